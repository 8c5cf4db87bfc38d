import { expect } from 'chai'
import { describeWithJava, REDISSON_VERSIONS } from '../test/kit/java'
import type { Step } from './support/call-sequence'
import { LOCK_SEQUENCES } from './support/call-sequence'
import { NAMES } from './support/java-methods'
import { expectSameAsJava, listening, MIXED } from './support/pairings'
import { setUpWorld, type World } from './support/world'

const VERSIONS = [REDISSON_VERSIONS.oldest, REDISSON_VERSIONS.newest]

/** Short, but through every key and channel a lock has. */
const ROUND: readonly Step[] = [
  ['a', 'lock', { leaseTime: 20_000 }],
  ['b', 'tryLock'],
  ['b', 'lock', { starts: true }],
  ['a', 'unlock', { ends: true }],
  ['a', 'forceUnlock'],
]

describeWithJava(
  'the same calls leave the same keys and messages',
  () => {
    for (const version of VERSIONS) {
      describe(`with Redisson ${version}`, () => {
        sequenceTests(setUpWorld(version))
      })
      describe(`with Redisson ${version} and a name mapper on both sides`, () => {
        const world = setUpWorld(version, { namePrefix: 'app:' })
        namesTests(world, ['order', 'order:{tag}', 'a}b'], 'app:')
      })
    }
  },
  VERSIONS,
)

function sequenceTests(world: World): void {
  const messages = listening(world)
  for (const [title, steps] of Object.entries(LOCK_SEQUENCES))
    it(title, () => expectSameAsJava(world, messages(), 'order', steps))
  namesTests(world, NAMES, '')
}

function namesTests(world: World, names: readonly string[], prefix: string): void {
  const messages = listening(world)
  for (const name of names) {
    it(`on a lock named ${JSON.stringify(name)}`, async () => {
      const [locked] = await expectSameAsJava(world, messages(), name, ROUND, MIXED)
      expect(locked?.keys.map(({ key }) => key)).to.deep.equal([prefix + name])
    })
  }
}
