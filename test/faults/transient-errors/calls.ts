import type { Redisson } from '../../../src/index'
import { OBJECT_CALLS } from './object-calls'
import { type Preparation, WAIT, who } from './preparation'

/** A call as it is made while the server declines. */
export interface Call {
  readonly answer: Promise<unknown>
  /** What it must answer in the end. */
  readonly expected: unknown
  readonly name: string
  /** What Redis must show in the end. */
  readonly left: readonly string[]
}

const ACQUIRING: readonly Preparation[] = [
  ['lock()', undefined, ['1'], async (r, name) => () => r.getLock(name).lock()],
  ['tryLock(wait)', true, ['1'], async (r, name) => () => r.getLock(name).tryLock(WAIT)],
  ['acquire()', true, ['1'], async (r, name) => async () => (await r.getLock(name).acquire()).isHeld],
  [
    'tryAcquire(wait)',
    true,
    ['1'],
    async (r, name) => async () => (await r.getLock(name).tryAcquire({ waitTime: WAIT }))?.isHeld,
  ],
  ['withLock()', 'done', [], async (r, name) => () => r.getLock(name).withLock(() => 'done')],
  ['a re-entry', undefined, ['2'], locked((lock) => lock.lock(who))],
  [
    'readLock().lock()',
    undefined,
    ['1', 'read'],
    async (r, name) => () => r.getReadWriteLock(name).readLock().lock(),
  ],
  [
    'writeLock().tryLock(wait)',
    true,
    ['1', 'write'],
    async (r, name) => () => r.getReadWriteLock(name).writeLock().tryLock(WAIT),
  ],
]

const RELEASING: readonly Preparation[] = [
  ['unlock()', undefined, [], locked((lock) => lock.unlock(who))],
  [
    'unlock() of one level',
    undefined,
    ['1'],
    locked(
      (lock) => lock.unlock(who),
      (lock) => lock.lock(who),
    ),
  ],
  [
    'unlock() of a LockHold',
    undefined,
    [],
    async (r, name) => {
      const hold = await r.getLock(name).acquire()
      return () => hold.unlock()
    },
  ],
  [
    'readLock().unlock()',
    undefined,
    [],
    async (r, name) => {
      const lock = r.getReadWriteLock(name).readLock()
      await lock.lock()
      return () => lock.unlock()
    },
  ],
  [
    'writeLock().unlock()',
    undefined,
    [],
    async (r, name) => {
      const lock = r.getReadWriteLock(name).writeLock()
      await lock.lock()
      return () => lock.unlock()
    },
  ],
  ['forceUnlock()', true, [], locked((lock) => lock.forceUnlock())],
]

type Lock = ReturnType<Redisson['getLock']>

function locked(
  call: (lock: Lock) => Promise<unknown>,
  before?: (lock: Lock) => Promise<unknown>,
): Preparation[3] {
  return async (redisson, name) => {
    const lock = redisson.getLock(name)
    await lock.lock(who)
    await before?.(lock)
    return () => call(lock)
  }
}

/** Prepares every acquiring and every releasing call; the returned function makes them all. */
export async function prepareCalls(
  redisson: Redisson,
  newName: (what: string) => string,
): Promise<() => [string, Call][]> {
  const prepared = await Promise.all(
    [...ACQUIRING, ...RELEASING, ...OBJECT_CALLS].map(async ([what, expected, left, calling]) => {
      const name = newName(what)
      return { what, expected, left, name, call: await calling(redisson, name) }
    }),
  )
  return () =>
    prepared.map(({ what, call, ...rest }) => {
      const answer = call()
      answer.catch(() => {})
      return [what, { ...rest, answer }]
    })
}
