import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { openRedis } from '../../../test/kit/clients'
import { openUntilTheEnd } from '../../../test/kit/closing'
import { type ScriptMachine, scriptMachine } from '../src/lua/script-machine'

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
