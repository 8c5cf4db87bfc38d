import { expect } from 'chai'
import type { Reply } from '../src/data/keyspace'
import { ReplyError, Status } from '../src/data/keyspace'
import { type ScriptMachine, scriptMachine } from '../src/lua/script-machine'

describe('The machine of scripts', () => {
  let machine: ScriptMachine

  before(async () => {
    machine = await scriptMachine()
  })

  /** Commands answer what `answers` says by their names; `echo` answers its arguments. */
  function run(
    source: string,
    keys: string[] = [],
    args: string[] = [],
    answers: Record<string, Reply> = {},
  ) {
    return machine.run(source, keys, args, (name, words) => {
      if (name === 'fail') throw new ReplyError('ERR it failed')
      return name === 'echo' ? words : answers[name]!
    })
  }

  const texts = (count: number) => Array.from({ length: count }, (_, index) => `text ${index}`)

  for (const [keys, args] of [
    [0, 0],
    [1, 2],
    [9, 1],
    [150, 150],
    [3, 20_000],
  ] as const)
    it(`A script gets ${keys} keys and ${args} arguments`, () => {
      const [names, words] = [texts(keys), texts(args)]
      expect(run('return { KEYS, ARGV }', names, words)).to.deep.equal([names, words])
      expect(run('return { #KEYS, #ARGV }', names, words)).to.deep.equal([keys, args])
    })

  it('A script that takes KEYS away leaves those of the next one', () => {
    run('KEYS = nil')
    expect(run('return KEYS', ['a'])).to.deep.equal(['a'])
  })

  it('Texts of all bytes and lengths pass in both directions', () => {
    const bytes = String.fromCharCode(...Array.from({ length: 256 }, (_, index) => index))
    for (const text of ['', '\0', bytes, bytes.repeat(3), bytes.repeat(1_000)]) {
      expect(run('return ARGV[1]', [], [text])).to.equal(text)
      expect(run("return redis.call('echo', ARGV[1], ARGV[1] .. 'x')", [], [text])).to.deep.equal([
        text,
        `${text}x`,
      ])
    }
  })

  it('More different texts than the machine keeps stay what they are', () => {
    for (let at = 0; at < 20_000; at++) {
      const text = `text ${at}`
      expect(run("return redis.call('echo', ARGV[1], 'b' .. ARGV[1])", [], [text])).to.deep.equal([
        text,
        `b${text}`,
      ])
    }
  })

  it('Replies of commands pass: numbers, nil, statuses, lists, lists in lists, and long lists', () => {
    const long = texts(30_000)
    for (const reply of [5, -0.5, null, 'text', [], [1, null, 'a'], [['a', [1]], []], long] as Reply[]) {
      const expected =
        reply === -0.5 ? 0 : Array.isArray(reply) && reply.includes(null) ? [1, null, 'a'] : reply
      expect(run("return redis.call('any')", [], [], { any: reply })).to.deep.equal(expected)
    }
    expect(run("return redis.call('any')", [], [], { any: new Status('OK') })).to.deep.equal(new Status('OK'))
    expect(run("return redis.call('any').ok", [], [], { any: new Status('OK') })).to.equal('OK')
    expect(run("return redis.call('any')[1].ok", [], [], { any: [new Status('OK')] })).to.equal('OK')
  })

  it('A list ends at its first nil, wherever Lua has its elements', () => {
    expect(run('return { 1, 2, nil, 4 }')).to.deep.equal([1, 2])
    expect(run('local list = {} for at = 3, 1, -1 do list[at] = at end return list')).to.deep.equal([1, 2, 3])
    expect(run("return { 1, { 2, { ok = 'FINE' } }, field = 3 }")).to.deep.equal([1, [2, new Status('FINE')]])
    expect(run('return { true, false, 2.9, {} }')).to.deep.equal([1, null, 2, []])
  })

  it('redis.call() throws the error of a command, and redis.pcall() returns it', () => {
    expect(() => run("redis.call('fail')")).to.throw(
      /^ERR it failed script: [0-9a-f]{40}, on @user_script:1\.$/,
    )
    expect(run("return redis.pcall('fail').err")).to.equal('ERR it failed')
    expect(() => run('redis.call({})')).to.throw(/arguments must be strings or integers/)
    expect(() => run('redis.call()')).to.throw(/at least one argument/)
  })

  it('A coroutine calls commands', () => {
    const source = "return coroutine.wrap(function(word) return redis.call('echo', word, 2) end)('a')"
    expect(run(source)).to.deep.equal(['a', '2'])
  })
})
