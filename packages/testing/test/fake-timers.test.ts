// What docs/guides/testing.md shows with the timers of Jest, here with those of Node.
import { mock } from 'node:test'
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
