// What docs/guides/testing.md shows with the timers of Jest, here with those of Node.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { mock } from 'node:test'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { Redisson } from 'rlock'
import { inMemoryRedis } from '../src/index'

describe('The in-memory Redis under fake timers', () => {
  const clients: Redisson[] = []

  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate', 'Date'] }))
  afterEach(async () => {
    mock.timers.reset()
    await Promise.all(clients.splice(0).map((client) => client.shutdown({ timeout: 0 })))
  })

  async function open(redis: ReturnType<typeof inMemoryRedis>): Promise<Redisson> {
    const client = await Redisson.create({ redis })
    clients.push(client)
    return client
  }

  it('Fake timers stop neither the client nor the server, and advance() moves theirs', async () => {
    const redis = inMemoryRedis()
    const redisson = await open(redis)
    let fired = false
    setTimeout(() => {
      fired = true
    }, 60_000)
    const hold = await redisson.getLock('order').acquire()
    const leased = await redisson.getLock('leased').acquire({ leaseTime: 40_000 })
    mock.timers.tick(60_000)
    expect(fired).to.equal(true)
    expect(leased.isHeld, 'fake timers move neither').to.equal(true)
    expect(redis.call('PTTL', 'leased')).to.be.within(30_000, 40_000)
    await redis.advance(60_000)
    expect(hold.isHeld, 'the client has renewed it').to.equal(true)
    expect(leased.isHeld).to.equal(false)
    expect(redis.keys()).to.deep.equal(['order'])
    await hold.unlock()
    expect(redis.keys()).to.deep.equal([])
  })

  it('With the time of fake timers a jump of it ends a lease, for server and holder', async () => {
    const redis = inMemoryRedis({ now: () => Date.now() })
    const redisson = await open(redis)
    const hold = await redisson.getLock('order').acquire({ leaseTime: 5_000 })
    expect(redis.call('PTTL', 'order')).to.equal(5_000)
    mock.timers.tick(5_001)
    expect(redis.keys()).to.deep.equal([])
    expect(hold.isHeld).to.equal(false)
  })
})

/** Runs a program whose timers are fake before it imports the packages; resolves with what it printed. */
async function withTimersFakedBy(fake: string, program: string): Promise<string> {
  const source = `${fake}
    const { Redisson } = require('./src/index')
    const { inMemoryRedis } = require('./packages/testing/src/index')
    ;(async () => { ${program} })().then((result) => {
      require('node:fs').writeSync(1, String(result))
      process.exit()
    })`
  const options = { cwd: join(__dirname, '../../..'), timeout: 30_000 }
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', '-e', source], options)
  return stdout
}

describe('Timers that are fake before the import', () => {
  it('Calls end in Jest with enableGlobally and fake Date, nextTick and microtasks (V38)', async () => {
    // As Jest does it: its tests have a process object of their own.
    const asJest = `
      const nothing = Object.assign(() => {}, { clock: {} })
      globalThis.process = Object.create(process, { nextTick: { value: nothing } })
      globalThis.queueMicrotask = nothing
      for (const name of ['setTimeout', 'setInterval', 'setImmediate']) globalThis[name] = nothing
      const frozen = Date.now()
      Date.now = () => frozen`
    const program = `
      const redis = inMemoryRedis()
      const [one, other] = [await Redisson.create({ redis }), await Redisson.create({ redis })]
      const hold = await one.getLock('order').acquire()
      const waiting = [other.getLock('order').acquire(), other.getLock('order').tryAcquire({ waitTime: 60_000 })]
      await redis.advance(1_000)
      await hold.unlock()
      await (await waiting[0]).unlock()
      const last = await waiting[1]
      await redis.advance(60_000)
      const renewed = last.isHeld
      const leased = await one.getLock('leased').acquire({ leaseTime: 5_000 })
      await redis.advance(5_000)
      await one.shutdown(); await other.shutdown({ timeout: 0 })
      return [renewed, leased.isHeld]`
    expect(await withTimersFakedBy(asJest, program)).to.equal('true,false')
  })

  for (const api of ['setTimeout', 'setImmediate'])
    it(`create() rejects and says what to do if ${api} of Node was fake at the import (V38)`, async () => {
      const fake = `require('node:test').mock.timers.enable({ apis: ['${api}'] })`
      const program = `return await Redisson.create({ redis: inMemoryRedis() }).catch((error) => error.message)`
      expect(await withTimersFakedBy(fake, program)).to.contain('import rlock before')
    })
})
