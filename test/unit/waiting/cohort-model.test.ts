import { expect } from 'chai'
import { CohortModel, type Party } from '../../kit/cohort-model'

const DURATION_MS = 20_000

/** Of its fair share of the sections, what each process gets. */
function shares(parties: readonly Party[], sectionMs: number): number[] {
  const sections = new CohortModel(parties, sectionMs).run(DURATION_MS)
  const all = sections.reduce((sum, each) => sum + each, 0)
  return sections.map((each) => (each * parties.length) / all)
}

describe('A model of processes that share a lock', () => {
  const at = (distances: readonly number[], callers: number): Party[] =>
    distances.map((distance) => ({ distance, pause: 0, callers }))

  for (const distances of [
    [0, 0],
    [0, 1],
    [0, 5],
    [0, 1, 5],
    [5, 5, 5],
    [0, 0, 0, 0, 0],
  ])
    for (const sectionMs of [5, 20])
      for (const callers of [1, 4])
        it(`Model: most of the share each at ${distances.join(', ')} ms, sections of ${sectionMs} ms, ${callers} caller(s)`, () => {
          expect(Math.min(...shares(at(distances, callers), sectionMs))).to.be.at.least(0.85)
        })

  it('In a model, a process at 20 ms gets a fifth of its share, and near ones lose none', () => {
    for (const sectionMs of [5, 20])
      for (const callers of [1, 4]) {
        const [near, , , far] = shares(at([0, 1, 5, 20], callers), sectionMs)
        expect(near).to.be.at.least(0.9)
        expect(far).to.be.at.least(0.2)
      }
  })

  it('In a model, a process that takes no turns leaves a neighbour that does its share', () => {
    const [ofJava] = shares(
      [
        { distance: 1, pause: 0, yields: false },
        { distance: 1, pause: 0 },
      ],
      5,
    )
    expect(ofJava).to.be.at.least(0.9)
  })

  it('In a model, processes get their turns beside one or two that listen and never come', () => {
    // A far one keeps half of what a near one gets, near ones keep all of it.
    for (const sectionMs of [0.1, 5])
      for (const deaf of [1, 2])
        for (const far of [0, 5]) {
          const parties = [...at([0, far], 1), ...Array<Party>(deaf).fill({ distance: 0 })]
          const [near, other] = new CohortModel(parties, sectionMs).run(DURATION_MS) as [number, number]
          expect((2 * other) / (near + other)).to.be.at.least(far === 0 ? 0.95 : 0.5)
        }
  })

  it('In a model, a process that listens and never comes costs a twelfth of the sections at most', () => {
    for (const sectionMs of [0, 5]) {
      const [alone] = new CohortModel([{ distance: 0, pause: 0 }], sectionMs).run(DURATION_MS)
      const beside = new CohortModel([{ distance: 0, pause: 0 }, { distance: 0 }], sectionMs)
      expect(beside.run(DURATION_MS)[0]).to.be.at.least((alone! * 11) / 12)
    }
  })
})
