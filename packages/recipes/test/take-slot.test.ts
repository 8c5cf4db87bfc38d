import { tracingChannel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import {
  IllegalMonitorStateError,
  LockLostError,
  LockTimeoutError,
  type Redisson,
  WrongTypeError,
} from 'rlock'
import type { Waitable } from '../../../test/contract/waitables'
import { waitingSuite } from '../../../test/contract/waiting'
import { createRedisson, rejection, timed, uniqueName } from '../../../test/kit/clients'
import { clientAndRedis, name, redis, redisson } from '../../../test/kit/each-test'
import { internalsOf } from '../../../test/kit/internals'
import { leftIn } from '../../../test/kit/left-in'
import { Program } from '../../../test/kit/program'
import { openProxy } from '../../../test/kit/proxies'
import { SentScripts } from '../../../test/kit/sent-scripts'
import { waitUntil } from '../../../test/kit/servers/index'
import { defaultServer, NO_PROCESS, NO_USERS, skipInMemory } from '../../../test/kit/stand-in'
import { type Slot, takeSlot } from '../src/index'
import { takeNumber } from '../src/slots'

const keyOf = (name: string) => `rlock_slots:{${name}}`
const PROGRAM = '../../../packages/recipes/test/program.ts'
const LEASE = 1_000

/** One number, which another client has. */
const oneSlot: Waitable = {
  name: 'slot',
  script: 'slots/take',
  close: (redis, name) => redis.zadd(keyOf(name), 0, 'other:1', Date.now() + 60_000, 'other:1:lease'),
  open: (redis, name) =>
    redis
      .multi()
      .del(keyOf(name))
      .publish(`channel:${keyOf(name)}`, '1')
      .exec(),
  async enter(redisson, name, { waitTime = 60_000, signal }) {
    const taken = await takeNumber(internalsOf(redisson), name, 1, { waitTime, signal })
    return taken && { leave: () => taken.lease!.release() }
  },
  isFree: async (redis, name) => (await redis.exists(keyOf(name))) === 0,
}

waitingSuite(oneSlot)

describe('takeSlot', () => {
  clientAndRedis('slots', { lockWatchdogTimeout: LEASE })

  const indexes = (slots: readonly Slot[]) => slots.map(({ index }) => index)

  it('takeSlot takes the lowest free number, also one that was released between others', async () => {
    const slots = [1, 2, 3].map(() => takeSlot(redisson, name, 5))
    const [, second] = await Promise.all(slots)
    expect(indexes(await Promise.all(slots))).to.deep.equal([0, 1, 2])
    await second!.release()
    expect(indexes([await takeSlot(redisson, name, 5), await takeSlot(redisson, name, 5)])).to.deep.equal([
      1, 3,
    ])
  })

  it('takeSlot finds the one free number of 10,000 in one command and a few ms', async () => {
    const later = Date.now() + 60_000
    for (let from = 0; from < 10_000; from += 1_000)
      await redis.zadd(
        keyOf(name),
        ...Array.from({ length: 1_000 }, (_, at) => from + at)
          .filter((number) => number !== 7_654)
          .flatMap((number) => [number, `other:${number}`, later, `other:${number}:lease`]),
      )
    const sent = new SentScripts()
    const client = await createRedisson({}, { transport: sent.transport })
    await (await takeSlot(client, uniqueName(), 1)).release()
    sent.names.length = 0
    let slot!: Slot
    expect(await timed(async () => (slot = await takeSlot(client, name, 10_000)))).to.be.below(200)
    expect(slot.index).to.equal(7_654)
    expect(sent.names).to.deep.equal(['slots/take'])
  })

  it('takeSlot takes the numbers of 10,000 dead owners back in one call', async () => {
    const before = Date.now() - 1
    for (let from = 0; from < 10_000; from += 1_000)
      await redis.zadd(
        keyOf(name),
        ...Array.from({ length: 1_000 }, (_, at) => from + at).flatMap((number) => [
          ...[number, `other:${number}`],
          ...[before, `other:${number}:lease`],
        ]),
      )
    const slot = await takeSlot(redisson, name, 10_000)
    expect(slot.index).to.equal(0)
    expect(await redis.zcard(keyOf(name))).to.equal(2)
  })

  it('Callers that wait for a slot are served in order, and one that leaves keeps no one back', async () => {
    const first = await takeSlot(redisson, name, 1)
    const order: string[] = []
    const abort = new AbortController()
    const leaving = takeSlot(redisson, name, 1, { signal: abort.signal })
    const waiting = ['a', 'b', 'c'].map(async (id) => {
      const slot = await takeSlot(redisson, name, 1)
      order.push(id)
      await slot.release()
    })
    abort.abort(new Error('enough'))
    expect((await rejection(leaving)).message).to.equal('enough')
    await first.release()
    await Promise.all(waiting)
    expect(order).to.deep.equal(['a', 'b', 'c'])
  })

  it('The number of a killed process comes back by itself, and a waiter gets it', async function () {
    skipInMemory(this, NO_PROCESS)
    const { url } = await defaultServer()
    const dying = new Program(PROGRAM, 'slot', url, String(LEASE), name, '1')
    expect(await dying.line()).to.equal('0')
    const waiting = takeSlot(redisson, name, 1)
    dying.kill()
    expect(await timed(async () => expect((await waiting).index).to.equal(0))).to.be.below(4 * LEASE)
  })

  it('A slot is renewed while it lives, and its key is gone after the last release', async () => {
    const slot = await takeSlot(redisson, name, 3)
    await sleep(2.5 * LEASE)
    expect(slot.signal.aborted).to.equal(false)
    expect((await takeSlot(redisson, name, 3)).index).to.equal(1)
    expect(redisson.holds().map(({ kind, lockName }) => [kind, lockName])).to.deep.equal([
      ['slot', name],
      ['slot', name],
    ])
    await slot.release()
    expect(await redis.pttl(keyOf(name))).to.be.within(1, LEASE)
  })

  it('No two callers of many clients ever have one number (guarantee 1)', async () => {
    const clients = await Promise.all(Array.from({ length: 8 }, () => createRedisson()))
    const inUse = new Set<number>()
    const wrong: number[] = []
    const work = async (client: Redisson) => {
      for (let times = 0; times < 20; times++) {
        const slot = await takeSlot(client, name, 10)
        if (inUse.has(slot.index) || slot.index > 9) wrong.push(slot.index)
        inUse.add(slot.index)
        await sleep(Math.random() * 4)
        inUse.delete(slot.index)
        await slot.release()
      }
    }
    await Promise.all([...clients, ...clients].map(work))
    expect(wrong).to.deep.equal([])
    expect(await redis.exists(keyOf(name))).to.equal(0)
  })

  it('A slot is told lost before another client has its number (guarantee 5)', async function () {
    skipInMemory(this, NO_USERS)
    const proxy = await openProxy(await defaultServer())
    const cutOff = await createRedisson({ redis: proxy.url, lockWatchdogTimeout: LEASE })
    cutOff.on('error', () => {})
    const lost: string[] = []
    cutOff.on('lockLost', ({ kind, lockName, reason }) => lost.push(`${kind} ${lockName} ${reason}`))
    const slot = await takeSlot(cutOff, name, 1)
    const aborted = once(slot.signal, 'abort').then(() => performance.now())
    proxy.stall()
    const next = await takeSlot(redisson, name, 1)
    expect(next.index).to.equal(0)
    expect(await aborted).to.be.below(performance.now())
    expect(slot.signal.reason).to.be.instanceOf(LockLostError)
    expect(lost).to.deep.equal([`slot ${name} lease`])
    proxy.resume()
    expect(await rejection(slot.release())).to.be.instanceOf(LockLostError)
    await waitUntil('the late release is over', () => internalsOf(cutOff).orphans.size === 0)
    expect(await redis.zscore(keyOf(name), 'none')).to.equal(null)
    expect(await redis.zcard(keyOf(name))).to.equal(2)
  })

  it('Diagnostics end a slot as lost that its release finds gone', async () => {
    const ends: unknown[] = []
    const ended = (message: unknown) => ends.push(message)
    const holds = tracingChannel('rlock:hold')
    holds.asyncEnd.subscribe(ended)
    try {
      const slot = await takeSlot(redisson, name, 5)
      await redis.del(keyOf(name))
      const error = await rejection(slot.release())
      expect(error).to.be.instanceOf(LockLostError)
      expect(ends).to.have.lengthOf(1)
      expect(ends[0]).to.include({ outcome: 'lost', reason: 'gone' })
    } finally {
      holds.asyncEnd.unsubscribe(ended)
    }
  })

  it('A slot whose data is gone from the server is lost at the next renewal', async () => {
    const slot = await takeSlot(redisson, name, 1)
    await redis.del(keyOf(name))
    await once(slot.signal, 'abort')
    expect(slot.signal.reason).to.be.instanceOf(LockLostError)
    await waitUntil('nothing is left', () => Object.keys(leftIn(redisson)).length === 0)
  })

  it('A lost reply takes no second number, and a release succeeds without its reply', async function () {
    skipInMemory(this, NO_USERS)
    const proxy = await openProxy(await defaultServer())
    const client = await createRedisson({ redis: proxy.url })
    await (await takeSlot(client, uniqueName(), 1)).release()
    const isScript = ([command]: readonly string[]) => /^eval/i.test(command!)
    const taking = proxy.dropNextReply(isScript)
    const slot = await takeSlot(client, name, 5)
    await taking
    expect(slot.index).to.equal(0)
    expect(await redis.zcard(keyOf(name))).to.equal(2)
    const releasing = proxy.dropNextReply(isScript)
    await slot.release()
    await releasing
    expect(await redis.exists(keyOf(name))).to.equal(0)
  })

  it('A slot is released once, works with await using, and ends with its client', async () => {
    const slot = await takeSlot(redisson, name, 1)
    await slot.release()
    expect(await rejection(slot.release())).to.be.instanceOf(IllegalMonitorStateError)
    {
      await using held = await takeSlot(redisson, name, 1)
      expect(held.index).to.equal(0)
    }
    expect(await redis.exists(keyOf(name))).to.equal(0)
    const { signal } = await takeSlot(redisson, name, 1)
    const waiting = rejection(takeSlot(redisson, name, 1))
    await redisson.shutdown({ timeout: 0 })
    expect(signal.reason.code).to.equal('REDISSON_SHUTDOWN')
    expect(await waiting).to.have.property('code', 'REDISSON_SHUTDOWN')
  })

  it('takeSlot refuses bad arguments before it sends anything, and a key that is no set of slots', async () => {
    for (const count of [0, 10_001, 1.5])
      expect(await rejection(takeSlot(redisson, name, count))).to.be.instanceOf(RangeError)
    expect(await rejection(takeSlot(redisson, name, '3' as never))).to.be.instanceOf(TypeError)
    expect(await rejection(takeSlot({} as never, name, 3))).to.be.instanceOf(TypeError)
    expect(await rejection(takeSlot(redisson, '', 3))).to.be.instanceOf(TypeError)
    expect(await rejection(takeSlot(redisson, name, 3, { waitTime: 3 } as never))).to.be.instanceOf(TypeError)
    expect(await redis.exists(keyOf(name))).to.equal(0)
    await redis.set(keyOf(name), 'x')
    expect(await rejection(takeSlot(redisson, name, 3))).to.be.instanceOf(WrongTypeError)
  })

  it('takeSlot keeps to the waitTime of its client', async () => {
    const hasty = await createRedisson({ waitTime: 50 })
    await takeSlot(redisson, name, 1)
    expect(await rejection(takeSlot(hasty, name, 1))).to.be.instanceOf(LockTimeoutError)
  })
})
