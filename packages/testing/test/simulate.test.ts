// What docs/guides/testing.md shows of simulate(), and the rest.
import { simulate } from '@rlock/testing'
import { expect } from 'chai'

/** Two sections that sell one piece each. Rejects if the stock is not what was sold. */
async function sell(seed: number, looks: boolean): Promise<void> {
  await simulate(seed, async ({ client, redis, fault, sleep, random }) => {
    redis('SET', 'shop:stock', 10)
    let sold = 0
    const clients = await Promise.all([client(), client()])
    const sections = clients.map(async (each) => {
      const hold = await each.redisson.getLock('stock').acquire({ leaseTime: 1_000 })
      const stock = Number(redis('GET', 'shop:stock'))
      await each.sleep(300)
      if (!looks || hold.isHeld) {
        redis('SET', 'shop:stock', stock - 1)
        sold++
      }
      await hold.unlock().catch(() => {})
    })
    await sleep(random() * 200)
    fault.suspend(clients[0]!, random() * 3_000)
    await Promise.all(sections)
    expect(Number(redis('GET', 'shop:stock'))).to.equal(10 - sold)
  })
}

const SEEDS = Array.from({ length: 50 }, (_, index) => index + 1)

describe('simulate()', () => {
  it('Leases that end under their holders let a run end (V136)', async () => {
    for (const seed of [2, 3, 4])
      await simulate(seed, async ({ client, random }) => {
        const { redisson, sleep } = await client({ lockWatchdogTimeout: 3_000 })
        const lock = redisson.getLock('lock')
        for (let section = 0; section < 20; section++) {
          await lock.lock(30 + Math.floor(random() * 100))
          await sleep(200)
          await lock.unlock().catch(() => {})
        }
      })
  })

  it('Some seeds lose a write where a signal is ignored, none where it is looked at', async () => {
    const failing: number[] = []
    for (const seed of SEEDS)
      await sell(seed, false).catch(({ code }) => {
        expect(code).to.equal('SIMULATION_FAILED')
        failing.push(seed)
      })
    expect(failing).not.to.deep.equal([])
    const again = await sell(failing[0]!, false).catch((error) => error)
    expect(again.message).to.match(new RegExp(`simulate\\(\\) with seed ${failing[0]} repeats this`))
    for (const seed of SEEDS) await sell(seed, true)
  })

  it('A failure names its seed and has the error as its cause', async () => {
    const cause = new Error('stock is wrong')
    const failed = await simulate(42, async () => {
      throw cause
    }).catch((error: Error) => error)
    expect(failed).to.include({ code: 'SIMULATION_FAILED', seed: 42, cause })
    expect(failed.message).to.equal('stock is wrong (simulate() with seed 42 repeats this)')
  })

  it('A function that waits for something outside the simulation is rejected, and says so', async () => {
    const failed = await simulate(1, () => new Promise(() => {})).catch((error: Error) => error)
    expect((failed as Error).message).to.match(/nothing is left to happen/)
  })

  it('A real timer under a held lock is named as what the function waits for', async () => {
    const failed = await simulate(1, async ({ client }) => {
      const { redisson } = await client()
      // Its renewals keep the world busy.
      await redisson.getLock('order').acquire()
      await new Promise((resolve) => setTimeout(resolve, 10))
    }).catch((error: Error) => error)
    expect((failed as Error).message).to.match(/virtual day.*sleep\(\) only: a real timer/)
  })

  it('A lock survives a restart with its keys, and is lost with them', async () => {
    for (const keys of ['kept', 'lost'] as const) {
      const isHeld = await simulate(3, async ({ client, fault, sleep }) => {
        const { redisson } = await client({ lockWatchdogTimeout: 9_000 })
        const hold = await redisson.getLock('order').acquire()
        fault.restart(1_000, keys)
        await sleep(8_000)
        return hold.isHeld
      })
      expect(isHeld).to.equal(keys === 'kept')
    }
  })

  it('A killed client leaves its lock to the lease, and hours pass at once', async () => {
    const waited = await simulate(5, async ({ client, fault, now }) => {
      const [one, other] = await Promise.all([client(), client()])
      await one.redisson.getLock('order').acquire({ leaseTime: 3_600_000 })
      fault.kill(one)
      const from = now()
      await other.redisson.getLock('order').acquire()
      return now() - from
    })
    expect(waited).to.be.within(3_590_000, 3_601_000)
  })

  it('Wrong arguments are a RangeError or a TypeError', async () => {
    expect(await simulate(0.5, async () => {}).catch((error) => error)).to.be.instanceOf(RangeError)
    expect(await simulate(1, undefined as never).catch((error) => error)).to.be.instanceOf(TypeError)
    const failed = await simulate(1, async ({ fault }) => fault.kill({} as never)).catch((error) => error)
    expect(failed.cause).to.be.instanceOf(TypeError)
  })
})
