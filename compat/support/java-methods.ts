import { type RLock, TimeUnit } from '../../src/index'
import type { JavaThread } from '../../test/kit/java'

/** What stands here for a method of Java's lock interfaces. */
export type Counterpart =
  | {
      readonly ours: keyof RLock
      /** The call that a Java call of this signature becomes: checked by the compiler, and made by the test. */
      readonly call: (lock: RLock, threadId: number) => unknown
      /** The lock must be held: by the scope that calls, or by the `threadId` handed in. */
      readonly held?: 'scope' | 'threadId'
    }
  | {
      /** Why there is none. */
      readonly absent: string
    }

const { SECONDS } = TimeUnit
const signal = () => new AbortController().signal

/**
 * Every method of `org.redisson.api.RLock`, `RLockAsync` and `java.util.concurrent.locks.Lock`, from 3.16.8 to
 * 4.7.0, by name and simple parameter types. All methods of rlock are asynchronous, so Java's two forms become one.
 */
export const JAVA_METHODS: Record<string, Counterpart> = {
  'getName()': { ours: 'getName', call: (lock) => lock.getName() },

  'lock()': { ours: 'lock', call: (lock) => lock.lock() },
  'lock(long, TimeUnit)': { ours: 'lock', call: (lock) => lock.lock(10, SECONDS) },
  'lockAsync()': { ours: 'lock', call: (lock) => lock.lock() },
  'lockAsync(long)': { ours: 'lock', call: (lock, threadId) => lock.lock({ threadId }) },
  'lockAsync(long, TimeUnit)': { ours: 'lock', call: (lock) => lock.lock(10, SECONDS) },
  'lockAsync(long, TimeUnit, long)': {
    ours: 'lock',
    call: (lock, threadId) => lock.lock({ leaseTime: SECONDS.toMillis(10), threadId }),
  },
  'lockInterruptibly()': { ours: 'lock', call: (lock) => lock.lock({ signal: signal() }) },
  'lockInterruptibly(long, TimeUnit)': {
    ours: 'lock',
    call: (lock) => lock.lock({ leaseTime: SECONDS.toMillis(10), signal: signal() }),
  },

  'tryLock()': { ours: 'tryLock', call: (lock) => lock.tryLock() },
  'tryLock(long, TimeUnit)': { ours: 'tryLock', call: (lock) => lock.tryLock(1, SECONDS) },
  'tryLock(long, long, TimeUnit)': { ours: 'tryLock', call: (lock) => lock.tryLock(1, 10, SECONDS) },
  'tryLockAsync()': { ours: 'tryLock', call: (lock) => lock.tryLock() },
  'tryLockAsync(long)': { ours: 'tryLock', call: (lock, threadId) => lock.tryLock({ threadId }) },
  'tryLockAsync(long, TimeUnit)': { ours: 'tryLock', call: (lock) => lock.tryLock(1, SECONDS) },
  'tryLockAsync(long, long, TimeUnit)': { ours: 'tryLock', call: (lock) => lock.tryLock(1, 10, SECONDS) },
  'tryLockAsync(long, long, TimeUnit, long)': {
    ours: 'tryLock',
    call: (lock, threadId) => lock.tryLock({ waitTime: 1_000, leaseTime: SECONDS.toMillis(10), threadId }),
  },

  'unlock()': { ours: 'unlock', held: 'scope', call: (lock) => lock.unlock() },
  'unlockAsync()': { ours: 'unlock', held: 'scope', call: (lock) => lock.unlock() },
  'unlockAsync(long)': {
    ours: 'unlock',
    held: 'threadId',
    call: (lock, threadId) => lock.unlock({ threadId }),
  },
  'forceUnlock()': { ours: 'forceUnlock', call: (lock) => lock.forceUnlock() },
  'forceUnlockAsync()': { ours: 'forceUnlock', call: (lock) => lock.forceUnlock() },

  'isLocked()': { ours: 'isLocked', call: (lock) => lock.isLocked() },
  'isLockedAsync()': { ours: 'isLocked', call: (lock) => lock.isLocked() },
  'isHeldByCurrentThread()': { ours: 'isHeldByCurrentThread', call: (lock) => lock.isHeldByCurrentThread() },
  'isHeldByThread(long)': { ours: 'isHeldByThread', call: (lock, threadId) => lock.isHeldByThread(threadId) },
  'isHeldByThreadAsync(long)': {
    ours: 'isHeldByThread',
    call: (lock, threadId) => lock.isHeldByThread(threadId),
  },
  'getHoldCount()': { ours: 'getHoldCount', call: (lock) => lock.getHoldCount() },
  'getHoldCountAsync()': { ours: 'getHoldCount', call: (lock) => lock.getHoldCount() },
  'remainTimeToLive()': { ours: 'remainTimeToLive', call: (lock) => lock.remainTimeToLive() },
  'remainTimeToLiveAsync()': { ours: 'remainTimeToLive', call: (lock) => lock.remainTimeToLive() },

  'newCondition()': { absent: "Java's throws UnsupportedOperationException" },
  'addListener(ObjectListener)': {
    absent: 'keyspace notifications of a server that must be set up for them',
  },
  'addListenerAsync(ObjectListener)': { absent: 'as addListener' },
  'removeListener(int)': { absent: 'as addListener' },
  'removeListenerAsync(int)': { absent: 'as addListener' },
}

/** Every method of `org.redisson.api.RReadWriteLock` and `java.util.concurrent.locks.ReadWriteLock`. */
export const READ_WRITE_METHODS = {
  'readLock()': 'readLock',
  'writeLock()': 'writeLock',
} as const

/** One object of the peer, called from one of its threads: its methods by name. Times are numbers, units are names. */
export type JavaObject = <T = unknown>(
  method: string,
  ...args: readonly (string | number | readonly string[])[]
) => Promise<T>

export function javaObject(thread: JavaThread, getter: string, name: string): JavaObject {
  return async <T>(method: string, ...args: readonly (string | number | readonly string[])[]) =>
    (await thread.ask<T>('call', { getter, name, method, args })).value
}

/** Names that a naive pattern, slot or codec would trip over. */
export const NAMES = [
  'a:b:c',
  '{tag}:order',
  'order:{tag}',
  'a{b',
  'a}b',
  '{}x',
  'a{b}c}{d}',
  '🔒',
  'ключ é',
  'line\nbreak\r\n',
  ' ',
  '"quoted" \\ %s * ?[a]',
]
