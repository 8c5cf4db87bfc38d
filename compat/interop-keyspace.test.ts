import { expect } from 'chai'
import { describeWithJava, REDISSON_VERSIONS } from '../test/kit/java'
import { LOCK_SEQUENCES, type Step } from './support/call-sequence'
import { NAMES } from './support/java-methods'
import { READ, WRITE } from './support/lock-peer'
import { ALL, expectSameAsJava, listening, MIXED } from './support/pairings'
import { READ_WRITE_ROUND, READ_WRITE_SEQUENCES } from './support/read-write-sequences'
import { setUpWorld, untilAsleep, type World } from './support/world'

const { oldest, newest } = REDISSON_VERSIONS
const VERSIONS = [oldest, newest]

/** Short, but through every key and channel a lock has. */
const LOCK_ROUND: readonly Step[] = [
  ['a', 'lock', { leaseTime: 20_000 }],
  ['b', 'tryLock'],
  ['b', 'lock', { starts: true }],
  ['a', 'unlock', { ends: true }],
  ['a', 'forceUnlock'],
]

/**
 * Where a lease of ours runs out, our client frees what is left of it and publishes that. Java leaves it to the time. So only a Java lease
 * runs out here.
 */
const WHOSE_LEASE_RUNS_OUT: Record<string, typeof ALL> = {
  'a reader whose lease has run out keeps no caller out once the others have released': [
    { a: 'Java', b: 'Node' },
  ],
}

describeWithJava(
  'the same calls leave the same keys and messages',
  () => {
    for (const version of VERSIONS) {
      describe(`with Redisson ${version}`, () => {
        const world = setUpWorld(version)
        const messages = listening(world)
        const { 'leases that run out': _, ...readWrite } = READ_WRITE_SEQUENCES
        for (const [title, steps] of Object.entries({ ...LOCK_SEQUENCES, ...readWrite }))
          it(title, async () => {
            await expectSameAsJava(world, messages(), 'order', steps, WHOSE_LEASE_RUNS_OUT[title] ?? ALL)
          })
        namesTests(world, LOCK_ROUND, NAMES)
        namesTests(world, READ_WRITE_ROUND, NAMES)
      })
      describe(`with Redisson ${version} and a name mapper on both sides`, () => {
        const world = setUpWorld(version, { namePrefix: 'app:' })
        namesTests(world, LOCK_ROUND, ['order', 'order:{tag}', 'a}b'], 'app:')
        if (version === oldest) mappedTwiceTests(world)
        else namesTests(world, READ_WRITE_ROUND, ['order', 'order:{tag}'], 'app:')
      })
    }
  },
  VERSIONS,
)

function namesTests(world: World, round: readonly Step[], names: readonly string[], prefix = ''): void {
  const messages = listening(world)
  const kind = round === LOCK_ROUND ? 'lock' : 'read-write lock'
  for (const name of names)
    it(`on a ${kind} named ${JSON.stringify(name)}`, async () => {
      const [locked] = await expectSameAsJava(world, messages(), name, round, MIXED)
      const keys = locked!.keys.map(({ key }) => key)
      if (round === LOCK_ROUND) expect(keys).to.deep.equal([prefix + name])
      else expect(keys).to.include(prefix + name)
    })
}

/** A fact of 3.16.8, and of the names of read-write locks only: its mapper runs a second time over what it gave. */
function mappedTwiceTests(world: World): void {
  it('Java maps the name twice: the sides meet where ours is handed the mapped name', async () => {
    const [java, node] = [world.Java.thread('a'), world.Node.thread('b')]
    await java.lock('order', WRITE)
    expect(await world.redis.keys('*order*')).to.deep.equal(['app:app:order'])
    expect(await node.isLocked('order', WRITE)).to.equal(false)
    expect(await node.isLocked('app:order', WRITE)).to.equal(true)
    const acquired = node.lock('app:order', READ)
    await untilAsleep(world.redis, 'app:app:order')
    await java.unlock('order', WRITE)
    await acquired
    expect(await java.tryLock('order', WRITE)).to.equal(false)
    await node.unlock('app:order', READ)
    // The plain lock's name is mapped once, as with everybody else.
    await java.lock('order')
    expect(await node.isLocked('order')).to.equal(true)
    await java.unlock('order')
  })
}
