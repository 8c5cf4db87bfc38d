import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, uniqueName } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { openProxy } from '../kit/proxies'
import { expectNothingLeft, ForeignSide, shape } from '../kit/read-write/state'
import { type TcpProxy, waitUntil } from '../kit/servers/index'
import { defaultServer } from '../kit/stand-in'
import { latch, ScriptCounter, tapped } from '../kit/tapped-transport'

/** Readers do not exclude each other: only a writer makes a reader's try false, however many readers try at once. */
describe('Read-write lock: readers that try at once', () => {
  let foreign: ForeignSide

  redisAndName('rw')
  beforeEach(() => {
    foreign = new ForeignSide(redis, name)
  })

  /** A client that is so many ms away from the server, there and back. */
  async function farClient(roundTrip: number) {
    const proxy: TcpProxy = await openProxy(await defaultServer())
    const redisson = await createRedisson({ redis: proxy.url })
    await redisson.getReadWriteLock(uniqueName('rw')).readLock().lock()
    proxy.delay(roundTrip / 2)
    return redisson
  }

  it('Readers that try at once all get the lock by a single try where no writer is', async () => {
    const read = (await createRedisson()).getReadWriteLock(name).readLock()
    const answers = await Promise.all(Array.from({ length: 40 }, () => read.tryLock()))
    expect(answers).to.deep.equal(answers.map(() => true))
    expect((await shape(redis, name)).readers).to.have.length(40)
    for (const _ of answers) await read.unlock()
    await expectNothingLeft(redis, name)
  })

  it('Readers that try at once beside one that waits all get the lock by a single try', async () => {
    const read = (await farClient(40)).getReadWriteLock(name).readLock()
    const [, ...holds] = await Promise.all([
      read.acquire(),
      ...Array.from({ length: 3 }, () => read.tryAcquire()),
    ])
    expect(holds.map((hold) => hold?.isHeld)).to.deep.equal([true, true, true])
  })

  for (const waitTime of [1, 100])
    it(`Readers that try at once all get the lock within a wait of ${waitTime} ms`, async () => {
      const read = (await farClient(10)).getReadWriteLock(name).readLock()
      const answers = await Promise.all(Array.from({ length: 20 }, () => read.tryLock(waitTime)))
      expect(answers).to.deep.equal(answers.map(() => true))
      expect((await shape(redis, name)).readers).to.have.length(20)
    })

  it('Readers that try at once all fail behind a writer, whether or not one of them waits', async () => {
    await foreign.write(1, 60_000)
    const read = (await createRedisson()).getReadWriteLock(name).readLock()
    for (const waitTime of [0, 30]) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => read.tryLock(waitTime)))
      expect(answers).to.deep.equal(answers.map(() => false))
    }
    await foreign.free('1')
    expect(await read.tryLock()).to.equal(true)
  })

  it('A reader whose wait is over learns from the first answer that a writer came (V217)', async () => {
    const answers = [latch(), latch(), latch()]
    let written: Promise<unknown> | undefined
    let sent = 0
    const transport = tapped(async ({ keys, pass }) => {
      if (keys[0] !== name) return await pass()
      const at = sent++
      if (at > 0) written ??= redis.del(name).then(() => foreign.write(1, 60_000))
      await written
      const answer = await pass()
      await answers[at]?.opened
      return answer
    })
    const redisson = await createRedisson({}, { transport })
    const read = redisson.getReadWriteLock(name).readLock()
    await redisson.getReadWriteLock(uniqueName('rw')).readLock().lock()
    const waiting = [0, 1, 2].map(() => read.acquire({ leaseTime: 60_000 }))
    answers[0]!.open()
    await waitUntil('the other two have tried together', () => sent === 3)
    const late = read.tryLock(20)
    await setTimeout(60)
    answers[1]!.open()
    expect(await Promise.race([late, setTimeout(500, 'still waits')])).to.equal(false)
    answers[2]!.open()
    await foreign.free('1')
    for (const reader of waiting.slice(1)) await (await reader).unlock()
  })

  it("Readers fail at once without a request while their client's reader waits", async () => {
    await foreign.write(1, 60_000)
    const counter = new ScriptCounter()
    const read = (await createRedisson({}, { transport: counter.transport }))
      .getReadWriteLock(name)
      .readLock()
    const waiting = read.acquire()
    // The second look is under the subscription, and is answered before a later command on the same connection.
    await waitUntil('it has looked twice', () => counter.of('read-lock/acquire') === 2)
    await read.isLocked()
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, () => read.tryLock()),
      ...Array.from({ length: 10 }, () => read.tryLock(50)),
    ])
    expect(answers).to.deep.equal(answers.map(() => false))
    expect(counter.of('read-lock/acquire')).to.equal(2)
    await foreign.free('1')
    await (await waiting).unlock()
    await expectNothingLeft(redis, name)
  })
})
