import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { createRedisson, rejection, timed, uniqueName } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { leftIn } from '../kit/left-in'
import { expectHandledRejections } from '../kit/observing'
import { waitUntil } from '../kit/servers/index'
import { latch, ScriptCounter, type Tap, tapped } from '../kit/tapped-transport'
import type { Waitable } from './waitables'

const PROMPTLY = 5_000
/** Less than the time for which a waiter still accepts an answer after its wait is over. */
const AT_ONCE = 700

/** Everything that can be waited for: rows A2, A7, A8 and V14 of docs/internals/failure-modes.md. */
export function waitingSuite(waitable: Waitable) {
  const a = waitable.name

  describe(`Anything that waits: a ${a}`, () => {
    expectHandledRejections()

    redisAndName()

    const isFree = () => waitUntil(`the ${a} is free`, () => waitable.isFree(redis, name), PROMPTLY, 5)

    async function nothingIsLeftIn(redisson: Redisson) {
      await isFree()
      await waitUntil('nothing is left', () => Object.keys(leftIn(redisson)).length === 0, PROMPTLY)
    }

    /** A client, and a function that resolves when a caller of it has tried and sleeps. */
    async function client() {
      const scripts = new ScriptCounter()
      const redisson = await createRedisson({}, { transport: scripts.transport })
      const asleep = async () => {
        await waitUntil('a try is sent', () => scripts.of(waitable.script) > 0)
        let tries = -1
        while (tries !== scripts.of(waitable.script)) {
          tries = scripts.of(waitable.script)
          await sleep(100)
        }
      }
      return { redisson, scripts, asleep }
    }

    /** A client whose next try goes through `tap`, once the server knows its script. */
    async function clientWithTap(tap: Tap) {
      let isArmed = false
      const transport = tapped((sent) => {
        if (!isArmed || sent.name !== waitable.script) return sent.pass()
        isArmed = false
        return tap(sent)
      })
      const redisson = await createRedisson({}, { transport })
      const other = uniqueName()
      await waitable.open(redis, other)
      await (await waitable.enter(redisson, other, {}))!.leave()
      isArmed = true
      return redisson
    }

    it(`A wait of 0 for a ${a} answers at once beside a caller that sleeps (V14)`, async () => {
      await waitable.close(redis, name)
      const { redisson, asleep } = await client()
      const abort = new AbortController()
      const sleeping = rejection(waitable.enter(redisson, name, { signal: abort.signal }))
      await asleep()
      const answering = async () =>
        expect(await waitable.enter(redisson, name, { waitTime: 0 })).to.equal(undefined)
      expect(await timed(answering)).to.be.lessThan(AT_ONCE)
      abort.abort(new Error('enough'))
      await sleeping
      await waitable.open(redis, name)
      await isFree()
    })

    it(`A caller whose signal has aborted asks nothing for a ${a} (A8)`, async () => {
      await waitable.open(redis, name)
      const { redisson, scripts } = await client()
      const signal = AbortSignal.abort(new Error('enough'))
      expect((await rejection(waitable.enter(redisson, name, { signal }))).message).to.equal('enough')
      expect(scripts.of(waitable.script)).to.equal(0)
      await nothingIsLeftIn(redisson)
    })

    it(`A caller aborted while it tries for a ${a} leaves at once (A8)`, async () => {
      const [granted, answer] = [latch(), latch()]
      const redisson = await clientWithTap(async (sent) => {
        const reply = await sent.pass()
        granted.open()
        await answer.opened
        return reply
      })
      await waitable.open(redis, name)
      const abort = new AbortController()
      const entering = rejection(waitable.enter(redisson, name, { signal: abort.signal }))
      await granted.opened
      abort.abort(new Error('enough'))
      const leaving = async () => expect((await entering).message).to.equal('enough')
      expect(await timed(leaving)).to.be.lessThan(AT_ONCE)
      answer.open()
      await nothingIsLeftIn(redisson)
    })

    for (const [when, abortIn] of [
      ['just before', (abort: () => void) => abort()],
      ['in the same tick as', queueMicrotask],
      ['just after', setImmediate],
    ] as const)
      it(`A caller that is aborted ${when} the grant of a ${a} has it or leaves nothing (A8)`, async () => {
        const abort = new AbortController()
        const redisson = await clientWithTap(async (sent) => {
          const reply = await sent.pass()
          abortIn(() => abort.abort(new Error('enough')))
          return reply
        })
        await waitable.open(redis, name)
        const result = await waitable
          .enter(redisson, name, { signal: abort.signal })
          .catch((error: Error) => error)
        if (result instanceof Error) expect(result.message).to.equal('enough')
        else await result!.leave()
        await nothingIsLeftIn(redisson)
      })

    it(`A caller aborted while it sleeps before a ${a} leaves at once (A8)`, async () => {
      await waitable.close(redis, name)
      const { redisson, asleep } = await client()
      const abort = new AbortController()
      const sleeping = rejection(waitable.enter(redisson, name, { signal: abort.signal }))
      await asleep()
      abort.abort(new Error('enough'))
      const leaving = async () => expect((await sleeping).message).to.equal('enough')
      expect(await timed(leaving)).to.be.lessThan(AT_ONCE)
      await waitable.open(redis, name)
      await nothingIsLeftIn(redisson)
    })

    it(`A wait for a ${a} ends in time, beside a caller that waits on (A7)`, async () => {
      await waitable.close(redis, name)
      const { redisson, asleep } = await client()
      const waiting = waitable.enter(redisson, name, {})
      await asleep()
      const ending = async () =>
        expect(await waitable.enter(redisson, name, { waitTime: 300 })).to.equal(undefined)
      expect(await timed(ending)).to.be.within(295, 300 + AT_ONCE)
      await waitable.open(redis, name)
      const entering = async () => (await waiting)!.leave()
      expect(await timed(entering)).to.be.lessThan(PROMPTLY)
      await nothingIsLeftIn(redisson)
    })

    it(`A wake-up that a leaving caller takes from a ${a} reaches the next one (A2)`, async () => {
      await waitable.close(redis, name)
      const { redisson, asleep } = await client()
      const abort = new AbortController()
      const leaving = rejection(waitable.enter(redisson, name, { signal: abort.signal }))
      const staying = waitable.enter(redisson, name, {})
      await asleep()
      const opened = waitable.open(redis, name)
      setImmediate(() => abort.abort(new Error('enough')))
      const first = leaving.catch(() => undefined)
      const entering = async () => (await staying)!.leave()
      await Promise.all([first, opened])
      expect(await timed(entering)).to.be.lessThan(PROMPTLY)
      await isFree()
    })

    it(`Callers that wait for a ${a} all enter, one wake-up after the other (A2)`, async () => {
      await waitable.close(redis, name)
      const { redisson, asleep } = await client()
      const waiting = Array.from({ length: 8 }, async () =>
        (await waitable.enter(redisson, name, {}))!.leave(),
      )
      await asleep()
      await waitable.open(redis, name)
      expect(await timed(() => Promise.all(waiting))).to.be.lessThan(PROMPTLY)
      await isFree()
    })

    it(`shutdown() rejects a caller that sleeps before a ${a}`, async () => {
      await waitable.close(redis, name)
      const { redisson, asleep } = await client()
      const sleeping = rejection(waitable.enter(redisson, name, {}))
      await asleep()
      await redisson.shutdown()
      expect(await sleeping).to.have.property('code', 'REDISSON_SHUTDOWN')
      await waitable.open(redis, name)
      await isFree()
    })

    for (const [kind, options] of [
      ['shutdown()', undefined],
      ['shutdown() without a timeout', { timeout: 0 }],
    ] as const)
      it(`${kind} rejects a caller whose try for a ${a} is in flight (V12)`, async () => {
        const [granted, answer] = [latch(), latch()]
        const redisson = await clientWithTap(async (sent) => {
          const reply = await sent.pass()
          granted.open()
          await answer.opened
          return reply
        })
        await waitable.open(redis, name)
        const entering = rejection(waitable.enter(redisson, name, {}))
        await granted.opened
        const closed = redisson.shutdown(options)
        answer.open()
        expect(await entering).to.have.property('code', 'REDISSON_SHUTDOWN')
        await closed
        await isFree()
      })
  })
}
