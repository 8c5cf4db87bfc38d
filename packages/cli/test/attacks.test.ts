import { expect } from 'chai'
import { createRedisson, openRedis, uniqueName } from '../../../test/kit/clients'
import { name, redis, redisAndName } from '../../../test/kit/each-test'
import { ownServer, waitUntil } from '../../../test/kit/servers/index'
import { answerInspectors, rlock, start } from './cli'

const JAVA = '0b6d2a3e-1111-4222-8333-944444444444'
/** Everything that a terminal acts on, but the end of a line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there.
const ACTS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/
const EVIL = [
  '\u001b]0;title\u0007\u001b[2J\u001b[31m',
  'line\nanother\r\u0085\u2028x',
  '\u202eesrever\u2066\u200b<script>alert(1)</script>',
  `${'long '.repeat(13_000)}`,
  '__proto__',
  '{a}b{c',
]

describe('The command rlock and data that attacks it', function () {
  this.timeout(60_000)
  const server = ownServer()

  redisAndName('test', { server })
  afterEach(async () => (await openRedis(server.url)).flushall())

  const run = (...args: string[]) => rlock([...args, '--redis', server.url])

  it('No command writes what a terminal acts on, whatever is in names, fields and values', async () => {
    for (const name of EVIL) {
      await redis.hset(name, `${JAVA}:1`, 1)
      await redis.rpush(`redisson_lock_queue:{${name}}`, `${JAVA}:2\u001b[2J`)
      await redis.set(`redisson_lock_token:{${name}}`, '7\u001b[2J', 'EX', 60)
      await redis.set(`{${name}}:${JAVA}:9:rwlock_timeout:1`, '1', 'EX', 60)
    }
    await redis.hset(Buffer.from([0xff, 0xfe, 0x1b, 0x5b, 0x32, 0x4a]), `${JAVA}:1`, 1)
    await redis.hset('binary', Buffer.from([0xff, 0x1b, 0x00]), Buffer.from([0x1b, 0x00]))
    const outputs = [
      await run('ls', '--all'),
      await run('ls', '--all', '--json'),
      await run('doctor'),
      await run('doctor', '--json'),
    ]
    // An argument has no NUL and 128 kB at most: these names can be given.
    for (const name of EVIL) {
      outputs.push(await run('show', name), await run('show', name, '--json'))
      outputs.push(await run('unlock', name, '--yes', '--owner', `${JAVA}:3\u001b[2J`))
      outputs.push(await run('exec', name, '--wait', '0s', '--', 'true'))
    }
    for (const { out, err } of outputs) {
      expect(out).to.not.match(ACTS)
      expect(err).to.not.match(ACTS)
    }
    expect(outputs[0]!.out).to.contain('\\u{1b}]0;title\\u{7}\\u{1b}[2J')
    const listed = outputs[1]!.json.map(({ name }) => name)
    expect(listed).to.include.members(EVIL.slice(0, 4))
    const longest = Math.max(...outputs[0]!.out.split('\n').map(({ length }) => length))
    expect(longest).to.be.below(500)
  })

  it('rlock watch writes nothing that a terminal acts on, and survives nonsense messages', async () => {
    const watching = await start(['watch', '--redis', server.url, '--enable-notifications'])
    await waitUntil('it watches', () => watching.out.includes('watching by'))
    for (const name of EVIL) await redis.hset(name, `${JAVA}:1`, 1)
    for (const text of ['', '\u001b[2J', 'x'.repeat(100_000), '9:a|1:b'])
      for (const channel of [
        '__subkeyevent@0__:hset',
        '__keyevent@0__:\u001b[2J',
        'redisson_lock__channel:{\u001b[2J}',
      ])
        await redis.publish(channel, text)
    await redis.hset(name, `${JAVA}:1`, 1)
    await waitUntil('it reads on', () => watching.out.includes(name))
    const { out, err, code } = await watching.interrupt()
    expect(out + err).to.not.match(ACTS)
    expect(code).to.equal(0)
  })

  it('A process that floods the channel with answers costs the tool two seconds, and no truth', async () => {
    const client = await createRedisson({ redis: server.url, label: 'honest' })
    const hold = await client.getLock(uniqueName()).acquire()
    const lie = (at: number) =>
      JSON.stringify({
        v: 1,
        client: `${at}`,
        label: '\u001b[2J',
        host: 'h',
        pid: at,
        holds: [
          { key: hold.lockName, name: hold.lockName, kind: 'lock', owner: `${JAVA}:${at}`, heldFor: 1e12 },
        ],
        waits: [{ key: hold.lockName, name: hold.lockName, waitingFor: 1e12, place: 1, at: '\u001b[2J' }],
        cut: false,
      })
    let flooding = true
    await answerInspectors(server.url, function* () {
      for (let at = 0; flooding; at += 500) yield Array.from({ length: 500 }, (_, each) => lie(at + each))
    })
    try {
      const began = performance.now()
      const { json, out } = await run('ls', '--json')
      expect(performance.now() - began).to.be.below(30_000)
      expect(json[0].holders.map(({ owner }: { owner: string }) => owner)).to.deep.equal([hold.owner])
      expect(out).to.not.match(ACTS)
    } finally {
      flooding = false
    }
    await hold.unlock()
  })

  it('Chains of 12,000 waits, 12,000 callers and a name of 60 kB cost a few seconds', async () => {
    const long = 'order:'.repeat(10_000)
    await redis.hset('c:0', `${JAVA}:1`, 1)
    const client = (at: number) => `0b6d2a3e-1111-4222-8333-${String(at).padStart(12, '0')}`
    const answers = (waitsFor: (at: number) => string) =>
      Array.from({ length: 80 }, (_, process) => {
        const each = Array.from({ length: 150 }, (_, at) => 150 * process + at)
        const hold = (at: number) => ({ key: `c:${at}`, owner: `${client(process)}:${at}` })
        return JSON.stringify({
          ...{ v: 1, client: client(process), label: 'p', host: 'h', pid: process, cut: false },
          holds: each.map((at) => ({ ...hold(at), name: 'n', kind: 'lock', heldFor: 1 })),
          waits: each.map((at) => ({
            ...{ key: waitsFor(at), name: 'n', waitingFor: 1, place: 1 },
            holding: [`${hold(at).owner} ${hold(at).key}`],
          })),
        })
      })
    const longOne = JSON.stringify({
      ...{ v: 1, client: JAVA, label: 'p', host: 'h', pid: 1, cut: false, waits: [] },
      holds: [{ key: long, name: 'n', kind: 'lock', owner: `${JAVA}:1`, heldFor: 1 }],
    })
    let said: string[] = []
    await answerInspectors(server.url, () => [[...said, longOne]])
    const shape = [(at: number) => `c:${at + 1}`, () => 'c:0']
    for (const waitsFor of shape) {
      said = answers(waitsFor)
      for (const args of [['show', 'c:0'], ['ls', '*order:*order:*stock'], ['doctor']]) {
        const began = performance.now()
        const { code, err } = await run(...args)
        expect([0, 1], err).to.include(code)
        expect(err).to.not.contain('Maximum call stack')
        expect(performance.now() - began, args.join(' ')).to.be.below(8_000)
      }
    }
  })
})
