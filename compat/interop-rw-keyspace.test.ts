import { expect } from 'chai'
import { describeWithJava, REDISSON_VERSIONS } from '../test/kit/java'
import { NAMES } from './support/java-methods'
import { READ, WRITE } from './support/lock-peer'
import { ALL, expectSameAsJava, listening, MIXED } from './support/pairings'
import { READ_WRITE_ROUND, READ_WRITE_SEQUENCES } from './support/read-write-sequences'
import { setUpWorld, untilAsleep, type World } from './support/world'

const { oldest, newest } = REDISSON_VERSIONS
const VERSIONS = [oldest, newest]

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
  'the same calls on a read-write lock leave the same keys and messages',
  () => {
    for (const version of VERSIONS) {
      describe(`with Redisson ${version}`, () => {
        const world = setUpWorld(version)
        const messages = listening(world)
        const sequences = Object.entries(READ_WRITE_SEQUENCES).filter(
          ([title]) => title !== 'leases that run out',
        )
        for (const [title, steps] of sequences)
          it(title, async () => {
            await expectSameAsJava(world, messages(), 'order', steps, WHOSE_LEASE_RUNS_OUT[title] ?? ALL)
          })
        namesTests(world, NAMES, '')
      })
      describe(`with Redisson ${version} and a name mapper on both sides`, () => {
        const world = setUpWorld(version, { namePrefix: 'app:' })
        if (version === oldest) mappedTwiceTests(world)
        else namesTests(world, ['order', 'order:{tag}'], 'app:')
      })
    }
  },
  VERSIONS,
)

function namesTests(world: World, names: readonly string[], prefix: string): void {
  const messages = listening(world)
  for (const name of names) {
    it(`on a read-write lock named ${JSON.stringify(name)}`, async () => {
      const [locked] = await expectSameAsJava(world, messages(), name, READ_WRITE_ROUND, MIXED)
      expect(locked?.keys.map(({ key }) => key)).to.include(prefix + name)
    })
  }
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
