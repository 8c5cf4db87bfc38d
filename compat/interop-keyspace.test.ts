import { expect } from 'chai'
import { describeWithJava, REDISSON_VERSIONS } from '../test/kit/java'
import type { Step } from './support/call-sequence'
import { NAMES } from './support/names'
import { expectSameAsJava, listening, MIXED } from './support/pairings'
import { setUpWorld, type World } from './support/world'

const VERSIONS = [REDISSON_VERSIONS.oldest, REDISSON_VERSIONS.newest]

const SEQUENCES: Record<string, readonly Step[]> = {
  'lock, unlock': [
    ['a', 'lock'],
    ['b', 'isLocked'],
    ['b', 'remainTimeToLive'],
    ['a', 'unlock'],
    ['b', 'isLocked'],
    ['b', 'remainTimeToLive'],
  ],
  'lock twice, unlock three times': [
    ['a', 'lock'],
    ['a', 'lock'],
    ['a', 'getHoldCount'],
    ['b', 'getHoldCount'],
    ['a', 'unlock'],
    ['a', 'unlock'],
    ['a', 'unlock'],
  ],
  // 600 ms tell a lease that was set anew (10 s) from one that went on running (9 s).
  're-entry and partial release set the lease anew': [
    ['a', 'lock', { leaseTime: 10_000 }],
    ['sleep', 600],
    ['b', 'remainTimeToLive'],
    ['a', 'tryLock', { leaseTime: 10_000 }],
    ['sleep', 600],
    ['b', 'remainTimeToLive'],
    ['a', 'unlock'],
    ['a', 'unlock'],
  ],
  'tryLock with and without wait and lease': [
    ['a', 'tryLock'],
    ['b', 'tryLock'],
    ['b', 'tryLock', { waitTime: 80 }],
    ['a', 'tryLock', { waitTime: 80 }],
    ['a', 'unlock'],
    ['a', 'unlock'],
    ['b', 'tryLock', { waitTime: 80, leaseTime: 20_000 }],
    ['a', 'tryLock', { waitTime: 0, leaseTime: 5_000 }],
    ['b', 'unlock'],
  ],
  'forced release': [
    ['b', 'forceUnlock'],
    ['a', 'lock'],
    ['a', 'lock'],
    ['b', 'forceUnlock'],
    ['a', 'isHeldByCurrentThread'],
    ['b', 'forceUnlock'],
    ['a', 'unlock'],
    ['a', 'unlock'],
  ],
  "a stranger's unlock": [
    ['b', 'unlock'],
    ['a', 'lock', { leaseTime: 20_000 }],
    ['b', 'unlock'],
    ['b', 'isHeldByCurrentThread'],
    ['a', 'isHeldByCurrentThread'],
    ['a', 'unlock'],
  ],
  'handing off to one who waits': [
    ['a', 'lock', { leaseTime: 20_000 }],
    ['b', 'lock', { leaseTime: 10_000, starts: true }],
    ['a', 'getHoldCount'],
    ['a', 'unlock', { ends: true }],
    ['b', 'getHoldCount'],
    ['b', 'unlock'],
  ],
  'a lease that runs out': [
    ['a', 'lock', { leaseTime: 120 }],
    ['sleep', 250],
    ['b', 'isLocked'],
    ['a', 'isHeldByCurrentThread'],
    ['a', 'unlock'],
    ['b', 'tryLock'],
    ['b', 'unlock'],
  ],
}

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
  for (const [title, steps] of Object.entries(SEQUENCES))
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
