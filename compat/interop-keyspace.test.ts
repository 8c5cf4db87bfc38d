import { expect } from 'chai'
import { describeWithJava, REDISSON_VERSIONS } from './java-peer'
import { type Casting, perform, type Step, type StepRecord } from './support/call-sequence'
import { PublishedMessages } from './support/keyspace'
import { setUpWorld, type World } from './support/world'

const VERSIONS = [REDISSON_VERSIONS.oldest, REDISSON_VERSIONS.newest]
const JAVA: Casting = { a: 'Java', b: 'Java' }
const MIXED: readonly Casting[] = [
  { a: 'Java', b: 'Node' },
  { a: 'Node', b: 'Java' },
]
const ALL: readonly Casting[] = [{ a: 'Node', b: 'Node' }, ...MIXED]

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
  'handing over to one who waits': [
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

const NAMES = [
  'a:b:c',
  '{tag}:order',
  'order:{tag}',
  'a{b',
  'a}b',
  '{}x',
  'a{b}c}{d}',
  '🔒',
  'ключ é',
  'line\nbreak\r\n',
  ' ',
  '"quoted" \\ %s * ?[a]',
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
  for (const [title, steps] of Object.entries(SEQUENCES)) {
    it(title, async () => {
      const expected = await perform(world, messages(), 'order', steps, JAVA)
      assertPlausible(expected)
      for (const casting of ALL)
        expect(await perform(world, messages(), 'order', steps, casting), inWords(casting)).to.deep.equal(
          expected,
        )
    })
  }
  namesTests(world, NAMES, '')
}

function namesTests(world: World, names: readonly string[], prefix: string): void {
  const messages = listening(world)
  for (const name of names) {
    it(`on a lock named ${JSON.stringify(name)}`, async () => {
      const expected = await perform(world, messages(), name, ROUND, JAVA)
      expect(expected[0]?.keys.map(({ key }) => key)).to.deep.equal([prefix + name])
      assertPlausible(expected)
      for (const casting of MIXED)
        expect(await perform(world, messages(), name, ROUND, casting), inWords(casting)).to.deep.equal(
          expected,
        )
    })
  }
}

function listening(world: World): () => PublishedMessages {
  let messages: PublishedMessages
  before(async () => {
    messages = await PublishedMessages.listen(world.server.url)
  })
  after(() => messages?.close())
  return () => messages
}

/** Equal nothings would be equal, too: there must be something to compare. */
function assertPlausible(records: readonly StepRecord[]): void {
  expect(records.some(({ keys }) => keys.length === 1 && keys[0]?.type === 'hash')).to.equal(true)
  expect(JSON.stringify(records)).to.contain('<owner>')
  expect(records.at(-1)?.keys).to.deep.equal([])
}

const inWords = ({ a, b }: Casting) => `a is ${a}, b is ${b}`
