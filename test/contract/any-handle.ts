import { expect } from 'chai'
import { createRedisson, rejection } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'
import { eventsOf } from '../kit/observing'
import { SentScripts } from '../kit/sent-scripts'
import { waitUntil } from '../kit/servers/index'
import type { Handle, HandleKind, Handles } from './handles'

/** Acquisitions as objects: taken, nested, released twice, disposed, lost and late. For every object that has them. */
export function anyHandleSuite(kind: HandleKind) {
  const a = `handle of a ${kind.name}`

  describe(`A ${a}`, () => {
    const sent = new SentScripts()
    let own: Handles

    clientAndRedis('handle', {}, { transport: sent.transport })
    beforeEach(async () => {
      await kind.prepare?.(redisson, name)
      own = kind.open(redisson, name)
    })

    const held = () => kind.held(redis, name)
    const isFree = async () => (await held()) === 0

    async function expectReleasedAlready(releasing: Promise<void>) {
      const error = await rejection(releasing)
      expect(error.name).to.equal(kind.secondName)
      expect(error.message).to.include('was released already').and.to.include(name)
      expect(error.message).to.include(redisson.getId())
    }

    it(`A ${a} is held until its release, which is no loss`, async () => {
      for (const acquire of [() => own.acquire(), () => own.tryAcquire()]) {
        const handle = (await acquire())!
        expect(handle.isHeld).to.equal(true)
        expect(handle.signal).to.be.instanceOf(AbortSignal).and.to.equal(handle.signal)
        expect(await held()).to.be.greaterThan(0)
        await handle.release()
        expect(handle.isHeld).to.equal(false)
        expect(handle.signal.aborted).to.equal(false)
        expect(await held()).to.equal(0)
      }
    })

    it(`A ${a} is released once, and a second release frees no successor`, async () => {
      const handle = await own.acquire()
      await handle.release()
      const successor = await own.acquire()
      await expectReleasedAlready(handle.release())
      await handle[Symbol.asyncDispose]()
      expect(successor.isHeld).to.equal(true)
      expect(await held()).to.equal(1)
      await successor.release()
    })

    it(`A ${a} is released once also by two calls at once`, async () => {
      const handle = await own.acquire()
      const [first, second] = await Promise.allSettled([handle.release(), handle.release()])
      expect(first.status).to.equal('fulfilled')
      expect(second.status).to.equal('rejected')
      expect(await held()).to.equal(0)
    })

    it(`A ${a} is valid from any scope`, async () => {
      const inside = await redisson.run(() => own.acquire())
      await inside.release()
      const outside = await own.acquire()
      await redisson.run(() => outside.release())
      expect(await held()).to.equal(0)
    })

    it(`A ${a} disposes by a release, and not at all after one`, async () => {
      const handle = await own.acquire()
      await handle[Symbol.asyncDispose]()
      expect(await held()).to.equal(0)
      sent.names.length = 0
      await handle[Symbol.asyncDispose]()
      expect(sent.names).to.deep.equal([])
      await expectReleasedAlready(handle.release())
    })

    it(`A ${a} works with await using, whether the block ends, fails or has released it`, async () => {
      {
        await using handle = await own.acquire()
        expect(handle.isHeld).to.equal(true)
      }
      expect(await held()).to.equal(0)
      const failing = async () => {
        await using _handle = await own.acquire()
        throw new Error('failed inside')
      }
      expect((await rejection(failing())).message).to.equal('failed inside')
      expect(await held()).to.equal(0)
      {
        await using handle = await own.tryAcquire()
        await handle!.release()
      }
      expect(await held()).to.equal(0)
    })

    it(`A ${a} that is lost rejects when it is released or disposed`, async () => {
      const released = await own.acquire()
      await kind.vanish(redis, name)
      expect((await rejection(released.release())).name).to.equal(kind.lossName)
      const disposed = await own.acquire()
      await kind.vanish(redis, name)
      expect((await rejection(disposed[Symbol.asyncDispose]())).name).to.equal(kind.lossName)
    })

    it(`A ${a} that is released late, after its lease, frees no successor`, async () => {
      const late = await own.acquire({ leaseTime: kind.shortLease })
      const { signal } = late
      await waitUntil('its lease ended', async () => signal.aborted && (await isFree()), 10_000, 5)
      expect(late.isHeld).to.equal(false)
      expect(signal.reason.name).to.equal(kind.lossName)
      const other = await createRedisson()
      const successor = await kind.open(other, name).acquire()
      expect((await rejection(late.release())).name).to.equal(kind.lossName)
      expect(successor.isHeld).to.equal(true)
      expect(await held()).to.equal(1)
      await successor.release()
    })

    const itRefuses = kind.membersRefuse ? () => {} : it
    itRefuses(
      `A ${a} goes on after a call that was refused, and says the reason each time (V36)`,
      async () => {
        const handle = await own.acquire()
        await redisson.shutdown({ timeout: 0 })
        for (let time = 0; time < 2; time++)
          expect((await rejection(handle.release())).name).to.equal('RedissonShutdownError')
      },
    )

    it(`The section of a ${a} gives its value or error, and releases either way`, async () => {
      expect(await own.within(async (handle) => [handle.isHeld, await held()])).to.deep.equal([true, 1])
      expect(await held()).to.equal(0)
      expect(await own.within(() => 'synchronous')).to.equal('synchronous')
      const failure = new Error('failed inside')
      expect(await rejection(own.within(() => Promise.reject(failure)))).to.equal(failure)
      const throws = () => {
        throw failure
      }
      expect(await rejection(own.within(throws))).to.equal(failure)
      expect(await held()).to.equal(0)
    })

    it(`The section of a ${a} releases nothing when its function has released it (V1)`, async () => {
      const result = await own.within(async (handle) => {
        await handle.release()
        expect(handle.isHeld).to.equal(false)
        expect(await held()).to.equal(0)
        return 'early'
      })
      expect(result).to.equal('early')
      await own.within((handle) => handle[Symbol.asyncDispose]())
      expect(await held()).to.equal(0)
    })

    it(`The lost section of a ${a} rejects with its value or its error`, async () => {
      const lost = await rejection(
        own.within(async () => {
          await kind.vanish(redis, name)
          return 'computed'
        }),
      )
      expect(lost).to.include({ name: kind.lossName, result: 'computed' })
      const failure = new Error('failed inside')
      const failed = own.within(async () => {
        await kind.vanish(redis, name)
        throw failure
      })
      expect(await rejection(failed)).to.equal(failure)
    })

    it(`The section of a ${a} whose lease ends rejects, and its signal has aborted`, async () => {
      const ending = own.within(
        async ({ signal }) => {
          await waitUntil('the signal aborts', () => signal.aborted, 10_000, 5)
          return 7
        },
        { leaseTime: kind.shortLease },
      )
      expect(await rejection(ending)).to.include({ name: kind.lossName, result: 7 })
    })

    if (!kind.nests) return

    it(`A nested ${a} that is released in its section leaves the outer one (V1)`, async () => {
      const lost = eventsOf(redisson, 'lockLost')
      await own.within(async (outer) => {
        await own.within(async (inner) => {
          await inner.release()
          await expectReleasedAlready(inner.release())
        })
        expect(outer.isHeld).to.equal(true)
        expect(await held()).to.equal(1)
      })
      expect(await held()).to.equal(0)
      expect(lost).to.deep.equal([])
    })

    it(`A stale inner ${a} that was kept releases nothing later (V1)`, async () => {
      await own.within(async (outer) => {
        let kept: Handle | undefined
        await own.within((inner) => {
          kept = inner
        })
        await expectReleasedAlready(kept!.release())
        await kept![Symbol.asyncDispose]()
        expect(kept!.isHeld).to.equal(false)
        expect(outer.isHeld).to.equal(true)
        expect(await held()).to.equal(1)
      })
      expect(await held()).to.equal(0)
    })

    it(`A ${a} releases exactly its own acquisition, in any order`, async () => {
      await redisson.run(async () => {
        const handles = [await own.acquire(), await own.acquire(), await own.acquire()] as const
        const [outer, middle, inner] = handles
        await middle.release()
        expect(handles.map(({ isHeld }) => isHeld)).to.deep.equal([true, false, true])
        expect(await held()).to.equal(2)
        await outer.release()
        expect(inner.isHeld).to.equal(true)
        expect(await held()).to.equal(1)
        await inner.release()
      })
      expect(await held()).to.equal(0)
    })
  })
}
