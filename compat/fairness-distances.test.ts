import { expect } from 'chai'
import { describeWithJava } from '../test/kit/java/index'
import { Distances, leastShare, type Meeting, type Party } from './support/distances'

/** Of what a process would get if all got the same. */
const LEAST_SHARE = 0.3
const DURATION_MS = 1_500

const NAMES = { lock: 'plain lock', write: 'write lock' } as const

describeWithJava('Java and Node at different distances from the server', () => {
  let distances: Distances
  let node: Party
  let java: Party
  let otherJava: Party

  before(async () => {
    distances = await Distances.open()
    node = await distances.party('Node')
    java = await distances.party('Java')
    otherJava = await distances.party('Java')
  })

  after(() => distances?.close())

  async function shareFairly(parties: readonly Party[], meeting: Omit<Meeting, 'durationMs'>) {
    const sections = await distances.meet(parties, { ...meeting, durationMs: DURATION_MS })
    console.log(`          ${parties.map(({ side }, index) => `${side} ${sections[index]}`).join(', ')}`)
    expect(leastShare(sections), sections.join(' : ')).to.be.at.least(LEAST_SHARE)
  }

  for (const type of ['lock', 'write'] as const)
    describe(NAMES[type], () => {
      for (const [nodeMs, javaMs] of [
        [0, 0],
        [0, 1],
        [0, 5],
        [5, 5],
      ] as const)
        for (const callers of [1, 4])
          it(`Node at ${nodeMs} ms and Java at ${javaMs} ms, ${callers} ${callers > 1 ? 'callers' : 'caller'} each`, () =>
            shareFairly([node, java], { type, callers, distances: [nodeMs, javaMs], sectionMs: 20 }))

      it('eight callers of a Node process beside eight threads each of two Java processes', () =>
        shareFairly([node, java, otherJava], { type, callers: 8, distances: [0, 0, 0], sectionMs: 5 }))

      it('one caller of a Node process beside one thread each of two Java processes', () =>
        shareFairly([node, java, otherJava], { type, callers: 1, distances: [0, 0, 0], sectionMs: 5 }))
    })
})
