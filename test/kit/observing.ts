import { expect } from 'chai'
import type { Redis } from 'ioredis'
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
