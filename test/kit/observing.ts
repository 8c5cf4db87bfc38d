import { expect } from 'chai'
import type { Redis } from 'ioredis'
import type { RedissonEvents } from '../../src/api/events'
import type { Redisson } from '../../src/index'
import { closeOpened } from './closing'

/** Who holds a plain lock, as a Java peer would read it: the one field of the hash and its count. */
export async function ownerOf(redis: Redis, name: string): Promise<{ field: string; count: number }> {
  const entries = Object.entries(await redis.hgetall(name))
  expect(entries, `fields of ${name.slice(0, 100)}`).to.have.length(1)
  const [field, count] = entries[0]!
  return { field, count: Number(count) }
}

/** The thread id in the owner field. */
export async function wireThreadId(redis: Redis, name: string): Promise<number> {
  const { field } = await ownerOf(redis, name)
  return Number(field.slice(field.lastIndexOf(':') + 1))
}

/**
 * Whether the promise is still pending after several round trips. A slow machine can only make this say
 * yes more often, so a test that expects a yes never fails by chance.
 */
export async function stillPending(promise: Promise<unknown>, ms = 120): Promise<boolean> {
  let settled = false
  const done = () => {
    settled = true
  }
  promise.then(done, done)
  await new Promise((resolve) => setTimeout(resolve, ms))
  return !settled
}

/** Keeps the event loop from turning, as a long computation does. */
export function blockEventLoop(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

type Event = keyof RedissonEvents

/** What the client reports of this kind from now on, in the order in which it comes. */
export function eventsOf<E extends Event>(redisson: Redisson, event: E): Parameters<RedissonEvents[E]>[0][] {
  const events: Parameters<RedissonEvents[E]>[0][] = []
  redisson.on(event, ((each: Parameters<RedissonEvents[E]>[0]) => events.push(each)) as RedissonEvents[E])
  return events
}

/** The messages of the errors that the client reports from now on. */
export function errorMessagesOf(redisson: Redisson): string[] {
  const messages: string[] = []
  redisson.on('error', ({ message }) => messages.push(message))
  return messages
}

export type Warning = Error & { code?: string }

/** For a `describe`: those warnings of the process during a test that are `wanted`. */
export function warningsOfEachTest(wanted: (warning: Warning) => boolean = () => true): Warning[] {
  const warnings: Warning[] = []
  const note = (warning: Warning) => {
    if (wanted(warning)) warnings.push(warning)
  }
  beforeEach(() => {
    warnings.length = 0
    process.on('warning', note)
  })
  afterEach(() => void process.off('warning', note))
  return warnings
}

/** A promise to be settled from outside. */
export function deferred<T = void>() {
  let resolve!: (value: T | PromiseLike<T>) => void
  let reject!: (error: unknown) => void
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

/** To be called in a `describe`: fails a test that left a rejection without a handler. */
export function expectHandledRejections(): void {
  const errors = new StrayErrors()
  beforeEach(() => errors.watch())
  afterEach(async () => {
    await closeOpened()
    await errors.expectNone()
  })
}

class StrayErrors {
  private readonly seen: unknown[] = []
  private readonly note = (error: unknown) => {
    this.seen.push(error)
  }

  watch(): void {
    process.on('unhandledRejection', this.note)
  }

  async expectNone(): Promise<void> {
    // Node reports a rejection once the microtasks of the turn have run.
    await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', this.note)
    expect(this.seen.splice(0), 'rejections without a handler').to.deep.equal([])
  }
}
