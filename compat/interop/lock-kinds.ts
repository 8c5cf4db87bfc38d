import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redisson, RLock, RMultiLock } from '../../src/index'
import { timed, uniqueName } from '../../test/kit/clients'
import type { LockType } from '../../test/kit/java'
import { waitUntil } from '../../test/kit/servers/index'
import { channelOf, untilWaiting, type World } from '../support/world'

/** Well below a lease; a spin lock sleeps for up to 128 ms, and a multi lock pauses between its rounds. */
const PROMPTLY_MS = 5_000
/** A waiter that is not notified sleeps for longer. */
const LEASE_MS = 60_000

interface Kind {
  readonly type: LockType
  /** How many plain locks it is made of; where it is one itself, its own name is the only one. */
  readonly members: number
  /** Since which Redisson there is one. */
  readonly since: string
  lockOf(redisson: Redisson, names: readonly string[]): RLock | RMultiLock
}

/** What Redisson has beside the plain, the read-write and the fair lock, which have tests of their own. */
const KINDS: readonly Kind[] = [
  { type: 'spin', members: 1, since: '3.15.0', lockOf: (redisson, [name]) => redisson.getSpinLock(name!) },
  {
    type: 'fenced',
    members: 1,
    since: '3.19.0',
    lockOf: (redisson, [name]) => redisson.getFencedLock(name!),
  },
  {
    type: 'nonReentrant',
    members: 1,
    since: '4.4.0',
    lockOf: (redisson, [name]) => redisson.getNonReentrantLock(name!),
  },
  {
    type: 'multi',
    members: 3,
    since: '3.0.0',
    lockOf: (redisson, names) => redisson.getMultiLock(...names.map((name) => redisson.getLock(name))),
  },
  {
    type: 'red',
    members: 3,
    since: '3.0.0',
    lockOf: (redisson, names) => redisson.getRedLock(...names.map((name) => redisson.getLock(name))),
  },
]

/** The kinds that this Redisson has: either side holds, keeps the other out, and lets it in by its release. */
export function lockKindTests(world: World): void {
  for (const kind of KINDS.filter(({ since }) => isSince(world.version, since))) {
    const { type } = kind
    const setting = () => {
      const names = Array.from({ length: kind.members }, () => uniqueName(type))
      return { names, name: names.join(), lock: kind.lockOf(world.Node.redisson, names) }
    }
    const nothingIsLeft = (names: readonly string[]) =>
      waitUntil('nothing is held', async () => (await world.redis.exists(...names)) === 0)

    it(`Java holds a ${type} lock and keeps Node out; Node enters after its release`, async () => {
      const { name, names, lock } = setting()
      const java = world.Java.thread('a')
      await java.lock(name, { type, leaseTime: LEASE_MS })
      expect(await lock.tryAcquire()).to.equal(undefined)
      const waiting = lock.acquire()
      await sleep(200)
      await java.unlock(name, { type })
      expect(await timed(() => waiting)).to.be.below(PROMPTLY_MS)
      await (await waiting).unlock()
      await nothingIsLeft(names)
    })

    it(`Node holds a ${type} lock and keeps Java out; Java enters after its release`, async () => {
      const { name, names, lock } = setting()
      const java = world.Java.thread('a')
      const hold = await lock.acquire({ leaseTime: LEASE_MS })
      expect(await java.tryLock(name, { type })).to.equal(false)
      const waiting = java.lock(name, { type })
      if (type === 'spin' || kind.members > 1) await sleep(200)
      else await untilWaiting(world.redis, channelOf(name))
      await hold.unlock()
      expect(await timed(() => waiting)).to.be.below(PROMPTLY_MS)
      await java.unlock(name, { type })
      await nothingIsLeft(names)
    })
  }

  if (!isSince(world.version, '3.19.0')) return
  it('A fenced lock goes to Java and back, and its tokens rise by one with each grant (F1)', async () => {
    const name = uniqueName('fenced')
    const [java, lock] = [world.Java.thread('a'), world.Node.redisson.getFencedLock(name)]
    for (const token of [1, 3, 5]) {
      expect(await java.lockAndGetToken(name)).to.equal(token)
      await java.unlock(name, { type: 'fenced' })
      expect(await lock.withLock((hold) => hold.token)).to.equal(token + 1)
    }
  })
}

function isSince(version: string, since: string): boolean {
  const [a, b] = [version, since].map((each) => each.split('.').map(Number)) as [number[], number[]]
  const at = a.findIndex((part, index) => part !== b[index])
  return at === -1 || a[at]! > b[at]!
}
