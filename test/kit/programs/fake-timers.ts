// Takes a lock, has its timers replaced, and goes on to use locks: everything but the renewals, which go on by themselves.
// Arguments: the server's port, a name for the lock that is kept, which fakes.
import timers from 'node:timers'
import type { Redisson as Client } from '../../../src/index'

/** Whether the caller of a replaced function is Node itself: Jest and jsdom give tests globals that are not Node's. */
function calledByNode(): boolean {
  const caller = new Error().stack?.split('\n')[3] ?? ''
  return caller.includes('(node:') || caller.includes('at node:')
}

/** Timers that never end and clocks that stand still, as Jest's and sinon's are until a test advances them. */
function freeze() {
  const swallow =
    <F extends (...args: never[]) => unknown>(original: F) =>
    (...args: Parameters<F>): unknown =>
      calledByNode() ? original(...args) : { unref() {}, ref() {}, hasRef: () => true }
  const frozen = performance.now()
  const { nextTick } = process
  Object.assign(globalThis, {
    setTimeout: swallow(setTimeout),
    setInterval: swallow(setInterval),
    setImmediate: swallow(setImmediate),
    clearTimeout: () => {},
    queueMicrotask: swallow(queueMicrotask),
  })
  process.nextTick = swallow(nextTick) as typeof nextTick
  performance.now = () => frozen
  Date.now = () => 1_000_000
}

/** Timers that are numbers, as browsers have them. */
function numberTimers() {
  const handles = new Map<unknown, NodeJS.Timeout>()
  let last = 0
  const { setTimeout: set, clearTimeout: clear } = timers
  const setNumber = (callback: () => void, delay: number) => {
    handles.set(++last, set(callback, delay))
    return last
  }
  const clearNumber = (handle: unknown) => {
    clear(handles.get(handle) ?? (handle as NodeJS.Timeout))
    handles.delete(handle)
  }
  for (const place of [globalThis, timers])
    Object.assign(place, { setTimeout: setNumber, clearTimeout: clearNumber })
}

async function mockTimers() {
  const { mock } = await import('node:test')
  mock.timers.enable()
}

async function main() {
  const [port, name = '', kind] = process.argv.slice(2)
  if (kind === 'numbers') numberTimers()
  const { Redisson } = require('../../../src/index') as typeof import('../../../src/index')
  const create = () => Redisson.create({ redis: `redis://127.0.0.1:${port}`, lockWatchdogTimeout: 900 })
  const [redisson, other] = [await create(), await create()]
  await redisson.getLock(`${name}:before`).lock()
  if (kind === 'frozen') freeze()
  if (kind === 'node:test') await mockTimers()
  await redisson.getLock(name).lock()
  await useLocks(redisson, other, name)
  console.log('used')
  process.stdin.once('data', async () => {
    await Promise.all([redisson.shutdown({ timeout: 0 }), other.shutdown()])
    console.log('shut down')
    process.stdin.destroy()
  })
}

async function useLocks(redisson: Client, other: Client, name: string) {
  // More in one turn than go into one write.
  const many = Array.from({ length: 100 }, (_, index) => redisson.getLock(`${name}:${index}`))
  for (let times = 0; times < 2; times++)
    await Promise.all(many.map((lock) => lock.withLock(() => lock.withLock(() => {}))))
  // Waiters that are woken, one that gives up, and one whose wait is over.
  const hold = await redisson.getLock(`${name}:waited`).acquire()
  const abort = new AbortController()
  const left = other.getLock(hold.lockName).acquire({ signal: abort.signal }).catch(String)
  const waiting = other.getLock(hold.lockName).acquire()
  if (await redisson.getLock(hold.lockName).tryLock(50)) throw new Error('held twice')
  abort.abort(new Error('enough'))
  await left
  await hold.unlock()
  await (await waiting).unlock()
  // A lease of its own that ends.
  const brief = await redisson.getLock(`${name}:brief`).acquire({ leaseTime: 200 })
  await new Promise((resolve) => brief.signal.addEventListener('abort', resolve))
}

void main()
