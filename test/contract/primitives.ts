import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { constantBackOff, type RLock } from '../../src/index'
import { lockChannel } from '../../src/locks/hash-lock-kind'
import { readWriteLockChannel } from '../../src/locks/read-write-side'
import { prefixed } from '../../src/scripts/key-names'
import { ForeignFairLock } from '../kit/foreign-fair-lock'
import { ForeignLock } from '../kit/foreign-lock'
import { ForeignSide, look, expectNothingLeft as readWriteLockIsGone } from '../kit/read-write/state'
import { waitUntil } from '../kit/servers/index'
import type { Primitive } from './primitive'

export const plainLock: Primitive = {
  name: 'lock',
  shared: false,
  addsLeases: false,
  scripts: {
    acquire: 'lock/acquire',
    reenter: 'lock/reenter',
    release: 'lock/release',
    renew: 'lock/renew',
  },
  create: (redisson, name) => redisson.getLock(name),
  blocker: (redis, name) => new ForeignLock(redis, name),
  channel: lockChannel,
  ownerField: (clientId, threadId) => `${clientId}:${threadId}`,
  async holds(redis, name) {
    const hash = Object.entries(await redis.hgetall(name))
    return Object.fromEntries(hash.map(([field, count]) => [field, Number(count)]))
  },
  timesToLive: async (redis, name) => [await redis.pttl(name)],
  async expectNothingLeft(redis, name) {
    expect(await redis.keys(`*${name}*`)).to.deep.equal([])
  },
}

export const nonReentrantLock: Primitive = {
  ...plainLock,
  name: 'non-reentrant lock',
  nonReentrant: true,
  create: (redisson, name) => redisson.getNonReentrantLock(name),
}

/** Its pauses are longer than any test: a waiter that acquires was notified. */
export const spinLock: Primitive = {
  ...plainLock,
  name: 'spin lock',
  create: (redisson, name) => redisson.getSpinLock(name, constantBackOff({ delay: 60_000 })),
}

export const fencedLock: Primitive = {
  ...plainLock,
  name: 'fenced lock',
  scripts: { ...plainLock.scripts, acquire: 'fenced-lock/acquire', reenter: 'fenced-lock/reenter' },
  create: (redisson, name) => redisson.getFencedLock(name),
  async expectNothingLeft(redis, name) {
    const left = await redis.keys(`*${name}*`)
    // The counter stays for ever, and never expires.
    expect(left.filter((key) => !key.startsWith('redisson_lock_token:'))).to.deep.equal([])
    for (const key of left) expect(await redis.pttl(key)).to.equal(-1)
  },
}

/** Its holder is a string that no test can know beforehand. */
const TOKEN = 'a token'

export const tokenLock: Primitive = {
  ...plainLock,
  name: 'token lock',
  nonReentrant: true,
  scripts: {
    acquire: 'token-lock/acquire',
    release: 'token-lock/release',
    renew: 'token-lock/renew',
  },
  // What the contracts call is there, beyond the interface too.
  create: (redisson, name) => redisson.getTokenLock(name) as RLock,
  blocker: (redis, name) => ({
    take: (lease?: number) =>
      lease === undefined ? redis.set(name, 'foreign') : redis.set(name, 'foreign', 'PX', lease),
    release: () => redis.multi().del(name).publish(prefixed('rlock_token', name), '0').exec(),
    vanish: () => redis.del(name),
  }),
  channel: (name) => prefixed('rlock_token', name),
  ownerField: () => TOKEN,
  async holds(redis, name): Promise<Record<string, number>> {
    return (await redis.exists(name)) === 1 ? { [TOKEN]: 1 } : {}
  },
}

export const fairLock: Primitive = {
  ...plainLock,
  name: 'fair lock',
  scripts: {
    acquire: 'fair-lock/acquire',
    reenter: 'lock/reenter',
    release: 'fair-lock/release',
    renew: 'lock/renew',
  },
  create: (redisson, name) => redisson.getFairLock(name),
  blocker: (redis, name) => new ForeignFairLock(redis, name),
  // A try that was given up may enter the queue after its waiter has left; it is taken out when it is answered.
  expectNothingLeft: (redis, name) =>
    waitUntil('nothing is left', async () => (await redis.keys(`*${name}*`)).length === 0, 2_000, 5),
  waitersListening: async (redis, name) => (await redis.pubsub('CHANNELS', `${lockChannel(name)}:*`)).length,
}

function side(kind: 'read' | 'write') {
  return {
    name: `${kind} lock`,
    channel: readWriteLockChannel,
    blocker(redis: Redis, name: string) {
      const foreign = new ForeignSide(redis, name)
      return {
        take: (lease?: number) => foreign.write(1, lease),
        release: () => foreign.free('1'),
        vanish: () => foreign.vanish(),
      }
    },
    holds: async (redis: Redis, name: string) => (await look(redis, name)).fields,
    async timesToLive(redis: Redis, name: string) {
      const { ttl, readTimeouts } = await look(redis, name)
      return [ttl, ...Object.values(readTimeouts)]
    },
    expectNothingLeft: readWriteLockIsGone,
  }
}

export const readLock: Primitive = {
  ...side('read'),
  shared: true,
  addsLeases: false,
  scripts: {
    acquire: 'read-lock/acquire',
    reenter: 'read-lock/reenter',
    release: 'read-lock/release',
    renew: 'read-lock/renew',
  },
  create: (redisson, name) => redisson.getReadWriteLock(name).readLock(),
  ownerField: (clientId, threadId) => `${clientId}:${threadId}`,
}

export const writeLock: Primitive = {
  ...side('write'),
  shared: false,
  addsLeases: true,
  scripts: {
    acquire: 'write-lock/acquire',
    reenter: 'write-lock/reenter',
    release: 'write-lock/release',
    renew: 'lock/renew',
  },
  create: (redisson, name) => redisson.getReadWriteLock(name).writeLock(),
  ownerField: (clientId, threadId) => `${clientId}:${threadId}:write`,
}
