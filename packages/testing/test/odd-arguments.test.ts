import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { openRedis } from '../../../test/kit/clients'
import { openUntilTheEnd } from '../../../test/kit/closing'
import { inMemoryRedis } from '../src/index'

const COMMANDS = `
  RPUSH l a b c d | LPOP l 0 | LPOP none 0 | LPOP l -1 | LPOP l x | LPOP l 1 2 | LPOP l 2 | LPOP none 2 | RPOP l 9 | EXISTS l
  RPUSH l a | RPOP l | LPOP l | LRANGE l -100 100 | LPUSH l
  ZADD z 0x10 m | ZSCORE z m | ZADD z 0x1p3 n | ZSCORE z n | ZADD z -0x.8 q | ZSCORE z q | ZADD z +0XfF q | ZSCORE z q
  ZADD z 0x n | ZADD z 0x1p n | ZADD z 0x. n | ZADD z nan n | ZADD z 1e400 n | ZADD z 1e-400 n | ZADD z 0e-400 n | ZADD z 5. n
  ZADD z .5 n | ZADD z infinity n | ZSCORE z n | ZADD z 0x0p-5 n | ZINCRBY z 0xA m | ZRANGEBYSCORE z (0x1 0x20 | ZADD z 1
  HSET h a 1 | hgetall h | HGETALL h | hgetall none | HGETALL none | HSET h a | SET s v PX 0x10 | INCRBY s 0x1`
  .split(/[|\n]/)
  .map((line) => line.trim())
  .filter(Boolean)

describe('The in-memory server and arguments that are seldom given', () => {
  let real: Redis

  before(async () => {
    real = await openRedis()
    await real.del('l', 'z', 'h', 's', 'none')
  })
  after(() => real.del('l', 'z', 'h', 's'))
  openUntilTheEnd()

  const inMemory = inMemoryRedis()
  for (const line of COMMANDS)
    it(`The in-memory server answers as Redis does: ${line}`, async () => {
      const [name, ...args] = line.split(' ') as [string, ...string[]]
      const expected = await real.call(name, ...args).catch((error: Error) => error.message)
      let answer: unknown
      try {
        answer = inMemory.call(name, ...args)
      } catch (error) {
        answer = (error as Error).message
      }
      expect(answer).to.deep.equal(expected)
    })
})
