import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { LockLostError, type Redisson } from '../../src/index'
import { createRedisson, rejection, timed, uniqueName } from '../kit/clients'
import { redis, redisAndName } from '../kit/each-test'
import { JumpingClock } from '../kit/jumping-clock'
import { Program } from '../kit/program'
import { waitUntil } from '../kit/servers/index'
import { defaultServer } from '../kit/stand-in'
import { tapped } from '../kit/tapped-transport'

describe('runOnce', () => {
  redisAndName()
  let one: Redisson
  let two: Redisson
  let name: string

  beforeEach(async () => {
    ;[one, two] = await Promise.all([createRedisson(), createRedisson()])
    name = uniqueName()
  })

  it('Of two processes 200 ms apart one runs the job (U9)', async () => {
    const { url } = await defaultServer()
    const programs = [
      new Program('run-once.ts', url, name, '0'),
      new Program('run-once.ts', url, name, '200'),
    ]
    for (const program of programs) expect(await program.line()).to.equal('ready')
    for (const program of programs) program.say('go')
    expect(await Promise.all(programs.map((program) => program.line()))).to.deep.equal(['ran', 'skipped'])
    expect(await Promise.all(programs.map(({ exit }) => exit))).to.deep.equal([0, 0])
  })

  it('A job that re-enters its own lock keeps the name no longer than atLeast (V181)', async () => {
    const reentering = async () => {
      await sleep(400)
      await one.getLock(name).withLock(() => {}, { leaseTime: 60_000 })
    }
    const took = await timed(() => one.runOnce(name, reentering, { atLeast: 1_000 }))
    expect(took).to.be.within(950, 5_000)
    expect(await two.runOnce(name, () => {}, { atLeast: 100 })).to.equal(true)
  })

  it('A job that has ended resolves at a shutdown before atLeast is over (V190)', async () => {
    let hasEnded = false
    const running = one.runOnce(
      name,
      async () => {
        await sleep(1_200)
        hasEnded = true
      },
      { atLeast: 2_000 },
    )
    await waitUntil('the job has ended', () => hasEnded)
    await sleep(50)
    await one.shutdown({ timeout: 100 })
    expect(await running).to.equal(true)
  })

  it('The name is taken until atLeast is over, and free after it (U9)', async () => {
    expect(await one.runOnce(name, () => {}, { atLeast: 1_500 })).to.equal(true)
    const left = await two.getLock(name).remainTimeToLive()
    expect(left).to.be.within(1, 1_500)
    expect(await two.runOnce(name, () => {}, { atLeast: 1_500 })).to.equal(false)
    expect(await one.runOnce(name, () => {}, { atLeast: 1_500 })).to.equal(false)
    await sleep(left + 50)
    expect(await two.runOnce(name, () => {}, { atLeast: 1_500 })).to.equal(true)
  })

  it('The name is taken until atLeast is over, also with a clock set forward (V107)', async () => {
    const clock = new JumpingClock()
    const client = await createRedisson({}, { clock })
    const job = () => {
      clock.jumped = 3_600_000
    }
    await client.runOnce(name, job, { atLeast: 20_000 })
    expect(await two.runOnce(name, () => {}, { atLeast: 20_000 })).to.equal(false)
  })

  it('The name is free when atLeast is over, also with a clock set back (V107)', async () => {
    const clock = new JumpingClock()
    const client = await createRedisson({ lockWatchdogTimeout: 600 }, { clock })
    const job = async () => {
      // The watchdog has the name by then.
      await sleep(700)
      clock.jumped = -3_600_000
    }
    await client.runOnce(name, job, { atLeast: 900 })
    expect(await two.getLock(name).isLocked()).to.equal(false)
  })

  it('A job longer than atLeast keeps others out until it ends, then frees the name', async () => {
    const others: boolean[] = []
    const ran = await one.runOnce(
      name,
      async ({ signal }) => {
        for (let times = 0; times < 6; times++) {
          await sleep(200)
          others.push(await two.runOnce(name, () => {}, { atLeast: 600 }))
        }
        expect(signal.aborted).to.equal(false)
      },
      { atLeast: 600 },
    )
    expect(ran).to.equal(true)
    expect(others).to.deep.equal([false, false, false, false, false, false])
    expect(await redis.exists(name)).to.equal(0)
  })

  it('A job that ends after the watchdog began keeps the name until atLeast is over', async () => {
    const took = await timed(() => one.runOnce(name, () => sleep(800), { atLeast: 1_200 }))
    expect(took).to.be.greaterThan(1_190)
    expect(await redis.exists(name)).to.equal(0)
  })

  it('What is left to its lease delays no shutdown, and outlives the client', async () => {
    await one.runOnce(name, () => {}, { atLeast: 30_000 })
    expect(one.holds()).to.deep.equal([])
    expect(await timed(() => one.shutdown({ timeout: 20_000 }))).to.be.lessThan(5_000)
    expect(await two.getLock(name).isLocked()).to.equal(true)
  })

  it('A waiter of the same client enters when the lease ends', async () => {
    let waiting: Promise<boolean> | undefined
    const job = () => {
      waiting = one.run(() => one.getLock(name).tryLock(20_000))
    }
    await one.runOnce(name, job, { atLeast: 1_000 })
    expect(await timed(() => waiting!)).to.be.lessThan(10_000)
    expect(await waiting).to.equal(true)
  })

  it('A job that fails rejects with its error, and is not run by others within atLeast', async () => {
    const error = new Error('the job failed')
    expect(await rejection(one.runOnce(name, () => Promise.reject(error), { atLeast: 20_000 }))).to.equal(
      error,
    )
    expect(await two.runOnce(name, () => {}, { atLeast: 20_000 })).to.equal(false)
  })

  it('A lock that was forced out while the job ran rejects with LockLostError', async () => {
    const waits = one.runOnce(
      name,
      async ({ signal }) => {
        await two.getLock(name).forceUnlock()
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
      { atLeast: 3_000 },
    )
    expect(await rejection(waits)).to.be.instanceOf(LockLostError)
  })

  it('A job that stood still beyond its lease reads that the lock is lost (V206)', async () => {
    let isLost: boolean | undefined
    const job = (task: { signal: AbortSignal }) => {
      const began = performance.now()
      while (performance.now() - began < 400);
      isLost = task.signal.aborted
    }
    expect(await rejection(one.runOnce(name, job, { atLeast: 300 }))).to.be.instanceOf(LockLostError)
    expect(isLost).to.equal(true)
  })

  it('A job whose lease ends while the watchdog takes over does not wait for the next owner', async () => {
    let taken = false
    const transport = tapped(async (sent) => {
      if (!sent.name.endsWith('/renew') || taken) return sent.pass()
      // The renewal arrives when another owner holds the lock.
      await waitUntil('the lease is over', async () => (await redis.exists(name)) === 0, 5_000)
      await redis.hset(name, 'another:1', 1)
      taken = true
      return sent.pass()
    })
    const slow = await createRedisson({}, { transport })
    const job = async ({ signal }: { signal: AbortSignal }) => {
      await waitUntil('the next owner has the lock', () => taken && signal.aborted, 5_000)
      // The end of a job within atLeast sends nothing, and reports nothing.
      await sleep(100)
    }
    const ran = slow.runOnce(name, job, { atLeast: 600 })
    const error = await Promise.race([rejection(ran), sleep(5_000, 'it still waits', { ref: false })])
    await redis.del(name)
    expect(error).to.be.instanceOf(LockLostError)
    expect(await redis.exists(name)).to.equal(0)
  })

  it('A caller that holds the lock already does not run the job', async () => {
    await one.getLock(name).withLock(async () => {
      expect(await one.runOnce(name, () => {}, { atLeast: 1_000 })).to.equal(false)
    })
  })

  it('Bad arguments are refused before anything is sent', async () => {
    const bad = (options: unknown) => rejection(one.runOnce(name, () => {}, options as { atLeast: number }))
    expect(await bad(undefined)).to.be.instanceOf(TypeError)
    expect(await bad({})).to.be.instanceOf(TypeError)
    expect(await bad({ atLeast: '5' })).to.be.instanceOf(TypeError)
    expect(await bad({ atLeast: 5, atMost: 5 })).to.be.instanceOf(TypeError)
    expect(await bad({ atLeast: 0 })).to.be.instanceOf(RangeError)
    expect(await bad({ atLeast: Number.NaN })).to.be.instanceOf(RangeError)
    expect(await rejection(one.runOnce(name, 5 as never, { atLeast: 5 }))).to.be.instanceOf(TypeError)
    expect(await one.getLock(name).isLocked()).to.equal(false)
  })
})
