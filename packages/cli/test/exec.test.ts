import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createRedisson, openRedis, uniqueName } from '../../../test/kit/clients'
import { freshName, name } from '../../../test/kit/each-test'
import { sharedStandalone, waitUntil } from '../../../test/kit/servers/index'
import { removeWithThisProcess } from '../../../test/kit/servers/left-behind'
import { hasTerminal, onTerminal, rlock, start } from './cli'

/** Runs until a signal that it does not ignore; `$0` is the file that it writes when it gets SIGTERM. */
const PATIENT = [
  'sh',
  '-c',
  'trap "echo term >> $0; exit 3" TERM; echo started; while :; do sleep 0.05; done',
]
const STUBBORN = ['sh', '-c', 'trap "" TERM; echo "started $$"; while :; do sleep 0.05; done']

describe('rlock exec', function () {
  freshName()

  this.timeout(60_000)
  let url: string
  let folder: string

  before(async () => {
    url = (await sharedStandalone()).url
    folder = mkdtempSync(join(tmpdir(), 'rlock-exec-'))
    removeWithThisProcess(folder)
  })

  const exec = (name: string, options: string[], command: string[]) =>
    rlock(['exec', name, '--redis', url, ...options, '--', ...command])
  const begin = (name: string, options: string[], command: string[]) =>
    start(['exec', name, '--redis', url, ...options, '--', ...command])
  const file = () => join(folder, uniqueName().replaceAll(':', '-'))
  const isAlive = (pid: number) => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }

  it('rlock exec runs the command while the lock is held, and ends with its exit code', async () => {
    const redis = await openRedis(url)
    const run = await begin(name, [], ['sh', '-c', 'echo "$RLOCK_NAME"; read -r line; exit 42'])
    await waitUntil('the command runs', () => run.out !== '')
    expect(run.out).to.equal(`${name}\n`)
    expect(await redis.hlen(name)).to.equal(1)
    run.child.stdin!.end('go\n')
    expect((await run.ended).code).to.equal(42)
    expect(await redis.exists(name)).to.equal(0)
  })

  it('rlock exec ends with 75 and runs nothing if the lock is held longer than --wait', async () => {
    const client = await createRedisson({ redis: url })
    const hold = await client.getLock(uniqueName()).acquire()
    const path = file()
    for (const wait of ['0s', '100ms'])
      expect((await exec(hold.lockName, ['--wait', wait], ['touch', path])).code).to.equal(75)
    expect(existsSync(path)).to.equal(false)
    await hold.unlock()
    expect((await exec(hold.lockName, ['--wait', '0s'], ['touch', path])).code).to.equal(0)
  })

  it('rlock exec --max-hold ends a longer command with 76, and refuses contradictions', async () => {
    const redis = await openRedis(url)
    for (const kind of [[], ['--fair'], ['--permits', '1'], ['--at-least', '500ms']]) {
      const name = uniqueName()
      const began = performance.now()
      const run = await exec(name, ['--max-hold', '1500ms', ...kind], ['sleep', '60'])
      expect(run.code, kind.join(' ')).to.equal(76)
      expect(performance.now() - began).to.be.below(20_000)
      await waitUntil(
        'it is free',
        async () => (await redis.zcard(`{${name}}:timeout`)) + (await redis.hlen(name).catch(() => 0)) === 0,
      )
    }
    for (const options of [
      ['--max-hold', '1s', '--lease', '1s'],
      ['--max-hold', '0s'],
      ['--max-hold', '1s', '--at-least', '2s'],
    ])
      expect((await exec(uniqueName(), options, ['true'])).code, options.join(' ')).to.equal(2)
  })

  it('rlock exec sends SIGTERM when the lock is lost, and ends with 76', async () => {
    const path = file()
    const run = await begin(name, ['--lease', '1s'], [...PATIENT, path])
    expect((await run.ended).code).to.equal(76)
    expect(readFileSync(path, 'utf8')).to.equal('term\n')
    expect(run.err).to.contain('was lost')
  })

  it('rlock exec sends SIGKILL after --grace to a command that ignores SIGTERM', async () => {
    const started = performance.now()
    const { code } = await exec(name, ['--lease', '500ms', '--grace', '200ms'], STUBBORN)
    expect(code).to.equal(76)
    expect(performance.now() - started).to.be.below(20_000)
  })

  it('rlock exec passes signals on to the command, and the lock is free when the command is gone', async () => {
    const run = await begin(
      name,
      [],
      ['sh', '-c', 'trap "exit 7" INT; echo started; while :; do sleep 0.05; done'],
    )
    await waitUntil('the command runs', () => run.out !== '')
    expect((await run.interrupt()).code).to.equal(7)
    expect(await (await openRedis(url)).exists(name)).to.equal(0)
  })

  it('rlock exec ends with 128 + n where signal n ended the command, also kill -9', async () => {
    const run = await begin(name, [], STUBBORN)
    await waitUntil('the command runs', () => run.out !== '')
    process.kill(Number(/\d+/.exec(run.out)![0]), 'SIGKILL')
    expect((await run.ended).code).to.equal(137)
    expect(await (await openRedis(url)).exists(name)).to.equal(0)
  })

  it('rlock exec ends its wait at a signal, and takes no lock', async () => {
    const client = await createRedisson({ redis: url })
    const hold = await client.getLock(uniqueName()).acquire()
    const run = await begin(hold.lockName, [], ['true'])
    await waitUntil('it waits', () => client.getLock(hold.lockName).isLocked())
    const redis = await openRedis(url)
    const channel = `redisson_lock__channel:{${hold.lockName}}`
    await waitUntil('it listens', async () => Number((await redis.pubsub('NUMSUB', channel))[1]) > 0)
    run.child.kill('SIGTERM')
    expect((await run.ended).code).to.equal(128 + 15)
    await hold.unlock()
    expect(await redis.exists(hold.lockName)).to.equal(0)
  })

  it('rlock exec that is killed before its guard knows the command never runs the command', async () => {
    const path = file()
    // Stops the tool for so long and kills it as soon as the second process, the command, is there.
    const preload = join(folder, 'killed-early.cjs')
    writeFileSync(
      preload,
      `const processes = require('node:child_process')
      const { spawn } = processes
      let started = 0
      processes.spawn = (...how) => {
        const child = spawn(...how)
        if (++started < 2) return child
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
        process.kill(process.pid, 'SIGKILL')
      }`,
    )
    const command = ['sh', '-c', 'while :; do echo runs >> "$0"; sleep 0.05; done', path]
    const args = ['exec', uniqueName(), '--redis', url, '--grace', '100ms', '--', ...command]
    const { signal } = await rlock(args, { NODE_OPTIONS: `--require=${preload}` })
    expect(signal).to.equal('SIGKILL')
    expect(existsSync(path)).to.equal(false)
  })

  it('rlock exec hands on variables whose names no shell takes, and its command reads the input', async () => {
    const print =
      'console.log(process.env["a.b"], process.env.PATH !== "", require("fs").readFileSync(0, "utf8"))'
    const args = ['exec', uniqueName(), '--redis', url, '--', process.execPath, '-e', print]
    const run = await start(args, { 'a.b': 'dotted' })
    run.child.stdin!.end('typed')
    const { out, code } = await run.ended
    expect([out, code]).to.deep.equal(['dotted true typed\n', 0])
  })

  it('rlock exec makes no value of a variable an argument of another program', async () => {
    const path = file()
    const tools = mkdtempSync(join(folder, 'tools-'))
    writeFileSync(join(tools, 'env'), `#!/bin/sh\necho "$@" >> ${path}\nexec /usr/bin/env "$@"\n`, {
      mode: 0o755,
    })
    const env = { 'spring.data.redis.password': 'hush', PATH: `${tools}:${process.env.PATH}` }
    const { out } = await rlock(
      [
        'exec',
        uniqueName(),
        '--redis',
        url,
        '--',
        process.execPath,
        '-p',
        'process.env["spring.data.redis.password"]',
      ],
      env,
    )
    expect([out, existsSync(path)]).to.deep.equal(['hush\n', false])
  })

  it('rlock exec within another gives its command no token of the lock around it', async () => {
    const [outer, inner] = [uniqueName(), uniqueName()]
    const print = [process.execPath, '-p', '[process.env.RLOCK_NAME, process.env.RLOCK_TOKEN].join()']
    const env = { RLOCK_TOKEN: '7', RLOCK_NAME: outer }
    expect((await rlock(['exec', inner, '--redis', url, '--', ...print], env)).out).to.equal(`${inner},\n`)
  })

  it('rlock exec --grace lasts as long as it says, also beyond 2³¹ ms', async () => {
    const path = file()
    const slow = [
      'sh',
      '-c',
      'trap "sleep 0.5; echo term >> $0; exit 3" TERM; while :; do sleep 0.05; done',
      path,
    ]
    expect((await exec(uniqueName(), ['--lease', '1s', '--grace', '60d'], slow)).code).to.equal(76)
    expect(readFileSync(path, 'utf8')).to.equal('term\n')
  })

  it('rlock exec that is interrupted while it connects ends at once', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const run = await start(['exec', uniqueName(), '--redis', `redis://127.0.0.1:${port}`, '--', 'true'])
    const [socket] = await once(silent, 'connection')
    const began = performance.now()
    run.child.kill('SIGTERM')
    expect((await run.ended).code).to.equal(128 + 15)
    expect(performance.now() - began).to.be.below(5_000)
    socket.destroy()
    silent.close()
  })

  it('rlock exec gives its command one SIGINT for one Ctrl-C on a terminal', async function () {
    if (!hasTerminal()) this.skip()
    const count =
      'let n = 0; process.on("SIGINT", () => { if (++n === 1) setTimeout(() => process.exit(10 + n), 1000) }); ' +
      'setInterval(() => {}, 1000); console.log("ready")'
    const args = ['exec', uniqueName(), '--redis', url, '--', process.execPath, '-e', count]
    for (const input of [undefined, '/dev/null']) {
      const terminal = await onTerminal(args, input)
      await waitUntil('the command runs', () => terminal.out.includes('ready'))
      terminal.child.stdin!.write('\u0003')
      expect((await terminal.ended).code, input).to.equal(11)
    }
  })

  const nested = (trap: string) => [
    'sh',
    '-c',
    `sh -c '${trap}echo "child $$"; while :; do sleep 0.05; done' & wait`,
  ]

  it('rlock exec signals the processes of its command too, with SIGKILL for a lost lock', async () => {
    const passed = await begin(uniqueName(), [], nested(''))
    await waitUntil('the child of the command runs', () => passed.out.includes('child'))
    const first = Number(/child (\d+)/.exec(passed.out)![1])
    passed.child.kill('SIGTERM')
    await waitUntil('the child of the command is gone', () => !isAlive(first))
    expect((await passed.ended).code).to.equal(128 + 15)
    const lost = await begin(uniqueName(), ['--lease', '2s', '--grace', '200ms'], nested('trap "" TERM; '))
    await waitUntil('the child of the command runs', () => lost.out.includes('child'))
    const second = Number(/child (\d+)/.exec(lost.out)![1])
    await waitUntil('the child of the command is gone', () => !isAlive(second))
    expect((await lost.ended).code).to.equal(76)
  })

  it('rlock exec that is killed takes all processes of its command along, and its lease ends', async () => {
    const run = await begin(name, ['--grace', '100ms'], nested('trap "" TERM; '))
    await waitUntil('the child of the command runs', () => run.out.includes('child'))
    const pid = Number(/child (\d+)/.exec(run.out)![1])
    run.child.kill('SIGKILL')
    await waitUntil('the child of the command is gone', () => !isAlive(pid))
    expect(await (await openRedis(url)).pttl(name)).to.be.within(1, 30_000)
  })

  it('rlock exec that is interrupted on a terminal ends with its command, and leaves no lock', async function () {
    if (!hasTerminal()) this.skip()
    const terminal = await onTerminal([
      'exec',
      name,
      '--redis',
      url,
      '--',
      'sh',
      '-c',
      'trap "exit 9" INT; echo ready; while :; do sleep 0.05; done',
    ])
    await waitUntil('the command runs', () => terminal.out.includes('ready'))
    terminal.child.stdin!.write('\u0003')
    expect((await terminal.ended).code).to.equal(9)
    expect(await (await openRedis(url)).exists(name)).to.equal(0)
  })

  it('rlock exec passes a megabyte through a pipe that is read slowly', async () => {
    const run = await begin(uniqueName(), [], ['node', '-e', 'process.stdout.write("x".repeat(1048576))'])
    run.child.stdout!.pause()
    await new Promise((resolve) => setTimeout(resolve, 500))
    run.child.stdout!.resume()
    const { code, out } = await run.ended
    expect([code, out.length]).to.deep.equal([0, 1_048_576])
  })

  it('rlock exec --fenced puts a token into RLOCK_TOKEN that rises from run to run', async () => {
    const token = async () => Number((await exec(name, ['--fenced'], ['sh', '-c', 'echo $RLOCK_TOKEN'])).out)
    const first = await token()
    expect(first).to.equal(1)
    expect(await token()).to.equal(2)
  })

  it('rlock exec --read runs several commands at once, and excludes a writer', async () => {
    const runs = await Promise.all(
      [1, 2].map(() => begin(name, ['--read'], ['sh', '-c', 'echo in; read -r line'])),
    )
    for (const run of runs) await waitUntil('both run', () => run.out !== '')
    const client = await createRedisson({ redis: url })
    expect(await client.getReadWriteLock(name).writeLock().tryLock()).to.equal(false)
    for (const run of runs) run.child.stdin!.end('go\n')
    for (const run of runs) expect((await run.ended).code).to.equal(0)
    expect(await client.getReadWriteLock(name).writeLock().tryLock()).to.equal(true)
  })

  it('rlock exec --permits N runs N commands at once', async () => {
    const options = ['--permits', '2', '--wait', '0s']
    const runs = await Promise.all(
      [1, 2].map(() => begin(name, options, ['sh', '-c', 'echo in; read -r line'])),
    )
    for (const run of runs) await waitUntil('both run', () => run.out !== '')
    expect((await exec(name, options, ['true'])).code).to.equal(75)
    for (const run of runs) run.child.stdin!.end('go\n')
    await Promise.all(runs.map(({ ended }) => ended))
    expect((await exec(name, options, ['true'])).code).to.equal(0)
  })

  it('rlock exec --fair takes a fair lock', async () => {
    const client = await createRedisson({ redis: url })
    const hold = await client.getFairLock(uniqueName()).acquire()
    const run = await begin(hold.lockName, ['--fair'], ['true'])
    const redis = await openRedis(url)
    await waitUntil(
      'it queues',
      async () => (await redis.llen(`redisson_lock_queue:{${hold.lockName}}`)) === 1,
    )
    await hold.unlock()
    expect((await run.ended).code).to.equal(0)
  })

  it('rlock exec --at-least runs a command once a tick on many hosts', async () => {
    const runs = await Promise.all([1, 2, 3].map(() => exec(name, ['--at-least', '20s'], ['echo', 'ran'])))
    expect(runs.map(({ code }) => code).sort()).to.deep.equal([0, 75, 75])
    expect(runs.map(({ out }) => out).join('')).to.equal('ran\n')
  })

  it('rlock exec ends with 127 for a command that is not there, and leaves no lock', async () => {
    expect((await exec(name, [], [join(folder, 'nonsense')])).code).to.equal(127)
    expect(await (await openRedis(url)).exists(name)).to.equal(0)
  })

  it('rlock exec ends with 126 if the command cannot start, and leaves no lock (V109)', async () => {
    const redis = await openRedis(url)
    const preload = join(folder, 'much.cjs')
    writeFileSync(preload, `for (let at = 0; at < 60; at++) process.env['many' + at] = 'x'.repeat(100000)`)
    const { code } = await rlock(['exec', name, '--redis', url, '--lease', '1h', '--', 'true'], {
      NODE_OPTIONS: `--require=${preload}`,
    })
    expect(code).to.equal(126)
    expect(await redis.exists(name)).to.equal(0)
  })

  it('rlock exec ends with 2 for contradicting options, and with 69 without a server', async () => {
    for (const options of [
      ['--read', '--fair'],
      ['--at-least', '5s', '--wait', '1s'],
      ['--wait', '5'],
      ['--permits', '0'],
      ['--permits', '2147483648'],
    ])
      expect((await exec('x', options, ['true'])).code, options.join(' ')).to.equal(2)
    expect((await rlock(['exec', 'x', '--redis', url])).code).to.equal(2)
    expect((await rlock(['exec', 'x', '--redis', 'redis://127.0.0.1:1', '--', 'true'])).code).to.equal(69)
  })
})
