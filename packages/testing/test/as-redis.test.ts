import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { openRedis } from '../../../test/kit/clients'
import { openUntilTheEnd } from '../../../test/kit/closing'
import { inMemoryRedis } from '../src/index'
import { type ScriptMachine, scriptMachine } from '../src/lua/script-machine'

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

/** Each packs and unpacks with `struct`, and returns texts and numbers only. */
const SCRIPTS = [
  "return struct.pack('Bc0I', 3, 'abc', 70000)",
  "return { struct.unpack('Bc0I', struct.pack('Bc0I', 3, 'abc', 4294967295)) }",
  "return { struct.unpack('bhil', struct.pack('bhil', -1, -2, -3, -4)) }",
  "return { struct.unpack('BHIL', struct.pack('BHIL', 255, 65535, 1, 2)) }",
  "return struct.pack('>I2<I2', 258, 258)",
  "return { struct.unpack('sxc2', struct.pack('sxc2', 'text', 'ab')) }",
  "return { struct.unpack('I', string.rep('x', 9), 5) }",
  "return { (struct.unpack('I', string.sub('abcdefgh', -4))) }",
]
const ERRORS = [
  "return struct.unpack('I', 'abc')",
  "return struct.unpack('s', 'abc')",
  "return struct.pack('q', 1)",
]

describe('struct of the in-memory server', () => {
  let machine: ScriptMachine
  let redis: Redis

  before(async () => {
    machine = await scriptMachine()
    redis = await openRedis()
  })
  openUntilTheEnd()

  const here = (source: string) => machine.run(source, [], [], () => null)

  for (const source of SCRIPTS)
    it(`${source} answers what Redis answers`, async () => {
      const theirs = JSON.stringify(await redis.callBuffer('EVAL', source, 0), asLatin1)
      expect(JSON.stringify(here(source))).to.equal(theirs)
    })

  for (const source of ERRORS)
    it(`${source} fails, as in Redis`, async () => {
      expect(() => here(source)).to.throw(/./)
      expect(await redis.eval(source, 0).catch(() => 'failed')).to.equal('failed')
    })
})

function asLatin1(_: string, value: unknown) {
  const bytes = value as { type?: string; data?: number[] } | null
  return bytes?.type === 'Buffer' ? Buffer.from(bytes.data!).toString('latin1') : value
}
