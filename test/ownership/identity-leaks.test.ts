import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { expect } from 'chai'
import { createRedisson, uniqueName } from '../kit/clients'
import { clientAndRedis, lock, name, redis, redisson } from '../kit/each-test'
import { deferred } from '../kit/observing'

// A thread's identity that leaks is two requests inside one lock: each of these code paths outlives the
// call that set it up, and must not carry the caller's identity to the code that comes next.
describe('A logical thread does not leak', () => {
  clientAndRedis('leak')

  it('A logical thread does not leak to the code after it, nor to the code that awaited it', async () => {
    const running = redisson.run(() => lock.lock())
    expect(await lock.tryLock()).to.equal(false)
    await running
    expect(await lock.tryLock()).to.equal(false)
    expect(await lock.getHoldCount()).to.equal(0)
  })

  it('A logical thread does not leak to later messages on a socket whose handler opened it', async () => {
    const answers: boolean[] = []
    const never = deferred()
    const server = createServer((socket) => {
      socket.on('data', async () => {
        // The first message's thread stays alive with its hold while the second message is handled.
        answers.push(await lock.tryLock())
        socket.write('.')
        void redisson.run(() => never.promise)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
    try {
      for (let message = 0; message < 4; message++) {
        client.write('x')
        await once(client, 'data')
      }
      expect(answers).to.deep.equal([true, false, false, false])
    } finally {
      never.resolve()
      client.destroy()
      server.close()
    }
    await lock.unlock()
  })

  it('A logical thread does not leak to the next turn of an interval whose callback opened it', async () => {
    const done = deferred()
    const never = deferred()
    const answers: boolean[] = []
    let busy = false
    const interval = setInterval(async () => {
      if (busy) return
      busy = true
      const own = redisson.run(async () => {
        answers.push(await lock.tryLock())
        busy = false
        if (answers.length === 3) done.resolve()
        await never.promise
      })
      // Outside: the handler itself must be unscoped, even with its thread alive.
      expect(await lock.isHeldByCurrentThread()).to.equal(false)
      await own
    }, 5)
    await done.promise
    clearInterval(interval)
    never.resolve()
    expect(answers.slice(0, 3)).to.deep.equal([true, false, false])
  })

  it('A logical thread does not leak through an emitter to the listeners of another thread', async () => {
    const emitter = new EventEmitter()
    const seen: Promise<number>[] = []
    await redisson.run(async () => {
      await lock.lock()
      emitter.on('work', () => seen.push(lock.getHoldCount()))
    })
    await redisson.run(async () => {
      emitter.emit('work')
    })
    emitter.emit('work')
    expect(await Promise.all(seen)).to.deep.equal([0, 0])
  })

  it('A logical thread does not leak to client listeners, whoever caused the event', async () => {
    const other = redisson.getLock(uniqueName('leak'))
    const counts = deferred<number>()
    await redisson.run(async () => {
      await lock.lock()
      redisson.on('lockLost', () => counts.resolve(lock.getHoldCount()))
      await other.lock()
      await other.forceUnlock()
      expect(await counts.promise, 'what the listener holds').to.equal(0)
      expect(await lock.getHoldCount()).to.equal(1)
    })
  })

  it('A logical thread does not leak to listeners of a signal of ours that aborts', async () => {
    const other = redisson.getLock(uniqueName('leak'))
    const counts = deferred<number>()
    await redisson.run(async () => {
      await lock.lock()
      const hold = await other.acquire()
      hold.signal.addEventListener('abort', () => counts.resolve(lock.getHoldCount()))
      await other.forceUnlock()
      expect(await counts.promise).to.equal(0)
    })
  })

  it('A logical thread does not leak to the waiters behind it: a waiter wakes as itself', async () => {
    await redisson.run(async () => {
      await lock.lock()
      const unscoped = deferred<number>()
      const waiter = redisson.run(async () => {
        await lock.lock()
        unscoped.resolve(await lock.getHoldCount())
        await lock.unlock()
      })
      await lock.unlock()
      expect(await unscoped.promise).to.equal(1)
      expect(await lock.getHoldCount()).to.equal(0)
      await waiter
    })
  })

  it('A logical thread does not leak into the renewals and sockets of a client created within it', async () => {
    const held = redisson.getLock(name)
    const never = deferred()
    const counts = deferred<number>()
    const created = deferred()
    const running = redisson.run(async () => {
      await held.lock()
      const inner = await createRedisson({ lockWatchdogTimeout: 300 })
      inner.on('lockLost', () => counts.resolve(held.getHoldCount()))
      const lost = uniqueName('leak')
      await inner.getLock(lost).lock()
      // Found by the next renewal, which no caller asked for.
      await redis.del(lost)
      created.resolve()
      await never.promise
    })
    await created.promise
    expect(await counts.promise).to.equal(0)
    never.resolve()
    await running
  })
})
