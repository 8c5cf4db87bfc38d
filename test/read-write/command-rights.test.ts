import { expect } from 'chai'
import { RedisRefusedError, type RLock } from '../../src/index'
import { createRedisson, uniqueName } from '../kit/clients'
import { redis, redisAndName } from '../kit/each-test'
import { ownServer, waitUntil } from '../kit/servers/index'

/** Commands of the scripts; each is refused in turn, so that the script ends in the middle. */
const COMMANDS = ['hset', 'hincrby', 'hexists', 'hlen', 'hget', 'set', 'pexpire', 'pttl', 'hdel', 'del']
/** Much less than a lease. */
const SOON = 5_000

describe('A right to a command that a read-write lock misses for a while', () => {
  const server = ownServer()
  let locks: RLock[]

  redisAndName('test', { server })
  beforeEach(async () => {
    await redis.flushall()
    await redis.call('ACL', 'SETUSER', 'app', 'reset', 'on', '>secret', '&*', '~*', '+@all')
    const redisson = await createRedisson({ redis: server.url.replace('redis://', 'redis://app:secret@') })
    locks = [uniqueName(), uniqueName()].flatMap((name) => [
      redisson.getReadWriteLock(`${name}:r`).readLock(),
      redisson.getReadWriteLock(`${name}:w`).writeLock(),
    ])
  })

  const refuse = (command: string) => redis.call('ACL', 'SETUSER', 'app', `-${command}`)
  const grant = (command: string) => redis.call('ACL', 'SETUSER', 'app', `+${command}`)
  const nothingIsLeft = () => waitUntil('nothing is left', async () => (await redis.dbsize()) === 0, SOON)

  for (const command of COMMANDS)
    it(`A read-write lock used without the right to ${command.toUpperCase()} is free once it is granted`, async () => {
      const held = await Promise.all(locks.slice(0, 2).map((lock) => lock.acquire()))
      await refuse(command)
      const releases = await Promise.allSettled(held.map((hold) => hold.unlock()))
      const acquisitions = await Promise.allSettled(locks.slice(2).map((lock) => lock.acquire()))
      await grant(command)
      for (const outcome of [...releases, ...acquisitions])
        if (outcome.status === 'rejected') expect(outcome.reason).to.be.instanceOf(RedisRefusedError)
        else await outcome.value?.unlock()
      await nothingIsLeft()
    })
})
