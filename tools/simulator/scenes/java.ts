import { LATEST_COPY } from '../../../packages/testing/src/simulation/socket'
import type { JavaLockKind } from '../java-model/client'
import type { FencedLock } from '../java-model/locks'
import type { SimulatedObject } from '../judge/history'
import { repeat, told } from '../operation'
import type { JavaCaller } from '../scene'

/** A Java thread looks at its own clock, and stops when this much of its lease is over. */
const OF_THE_LEASE = 0.8
/** What a killed client has taken is gone for good, so that no thread waits for ever. */
const LONGEST_WAIT = 4_000

type Answer = { ok: boolean; owners?: readonly string[]; token?: number; value?: number }
type Asked = Parameters<JavaCaller['recorder']['call']>[0]

/** One operation of a Java thread, with its record. Undefined: it failed. */
async function asks<T>(
  caller: JavaCaller,
  asked: Omit<Asked, 'client' | 'caller'>,
  run: () => Promise<T>,
  answer: (value: T) => Answer = () => ({ ok: true }),
): Promise<{ readonly id: number; readonly value: T } | undefined> {
  const { recorder, client, name, settings } = caller
  const id = recorder.call({ ...asked, client: client.name, caller: name })
  try {
    const value = await run()
    recorder.returned(id, answer(value))
    return { id, value }
  } catch (error) {
    recorder.failed(id, error)
    // It may have been applied, or still be. A thread that locked again would enter a level above, and Java would renew it for ever.
    await caller.sleep(LATEST_COPY + 1.2 * Math.max(settings.watchdogTimeout, ...settings.leases))
    return undefined
  }
}

/** Works until it is done or its lease is nearly over: Java tells a thread nothing. Returns whether it was done in time. */
async function works(
  caller: JavaCaller,
  hold: number,
  began: number,
  lease: number | undefined,
): Promise<boolean> {
  const { recorder, choices, settings } = caller
  recorder.sections++
  const longest = lease ?? settings.watchdogTimeout
  const length = [0, 1, 3, 10, 50, longest * 0.7, longest * 2.5][choices.weigh([8, 8, 6, 6, 2, 0.5, 0.3])]!
  const end = began + (lease === undefined ? Number.POSITIVE_INFINITY : lease * OF_THE_LEASE)
  for (let piece = 0; piece < 2; piece++) {
    const left = end - caller.now()
    if (left <= 0) break
    recorder.acted(hold)
    if (length > 0) await caller.sleep(Math.min(length / 2, left))
  }
  if (caller.now() < end) return true
  recorder.told(hold, 'lease')
  // Its key is there as long (twice as long after a re-entry of the write lock), and an unlock would be of a hold that the thread takes for lost.
  await caller.sleep(3 * longest)
  return false
}

function drawn({ choices, settings }: JavaCaller) {
  const lease = choices.weigh([5, 3]) === 0 ? undefined : choices.pick(settings.leases)
  const wait = [undefined, 0, 20, 500, 5_000][choices.weigh([6, 2, 1, 1, 1])]
  return { lease, wait }
}

/** A thread locks, works and unlocks. */
export async function javaLockSection(
  caller: JavaCaller,
  object: SimulatedObject,
  kind: JavaLockKind,
): Promise<void> {
  const { java, choices } = caller
  const { lease, wait } = drawn(caller)
  const threadId = caller.threadId()
  const lock = java.lock(kind, object.name)
  const levels = choices.happens(0.1) ? 2 : 1
  const holds: number[] = []
  let mayBeAbove = false
  const began = caller.now()
  for (let level = 1; level <= levels; level++) {
    const asked = {
      ...({ object, operation: 'acquire' } as const),
      as: wait === undefined ? 'lock' : 'tryLock',
      ...(wait === undefined ? {} : { wait }),
      ...(lease === undefined ? {} : { lease }),
    }
    const taken = await asks(
      caller,
      asked,
      async () => {
        if (wait !== undefined) return await lock.tryLock(threadId, wait === 0 ? undefined : wait, lease)
        await lock.lock(threadId, lease)
        return true
      },
      (ok) =>
        ok
          ? {
              ...{ ok, owners: [lock.ownerOf(threadId)] },
              ...(kind === 'fenced' ? { token: (lock as FencedLock).token } : {}),
              ...(level > 1 ? { level } : {}),
            }
          : { ok },
    )
    mayBeAbove = !taken
    if (!taken?.value) break
    holds.push(taken.id)
  }
  const [outer] = holds
  if (outer === undefined) return
  if (!(await works(caller, outer, began, lease))) return
  for (const hold of holds.reverse())
    await asks(caller, { object, operation: 'release', hold }, () => lock.unlock(threadId))
  // A level whose request got an error may be there, and Java would renew it for ever.
  if (mayBeAbove) await lock.unlock(threadId).catch(() => {})
}

/** A thread takes permits of a semaphore, and releases them. */
export async function javaSemaphoreSection(
  caller: JavaCaller,
  object: SimulatedObject,
  total: number,
): Promise<void> {
  const { java, choices, recorder } = caller
  const semaphore = java.semaphore(object.name)
  const units = Math.min(total, [1, 2][choices.weigh([5, 2])]!)
  const wait = [LONGEST_WAIT, 0, 20, 500][choices.weigh([6, 2, 1, 1])]!
  const asked = { object, operation: 'acquire', units, wait, as: 'tryAcquire' } as const
  const taken = await asks(caller, asked, () => semaphore.tryAcquire(units, wait), told)
  if (!taken?.value) return
  recorder.sections++
  await caller.sleep([0, 1, 5, 50][choices.weigh([8, 8, 6, 1])]!)
  await asks(caller, { object, operation: 'release', units, hold: taken.id }, () => semaphore.release(units))
}

/** A thread takes a permit with a lease, and releases it. */
export async function javaPermitSection(caller: JavaCaller, object: SimulatedObject): Promise<void> {
  const { java, choices, settings } = caller
  const semaphore = java.leasedSemaphore(object.name)
  // A permit without a lease is never renewed, and stays where its client is killed.
  const lease = choices.pick(settings.leases)
  const wait = [LONGEST_WAIT, 0, 20, 500][choices.weigh([6, 2, 1, 1])]!
  let began = 0
  const taken = await asks(
    caller,
    { object, operation: 'acquire', wait, lease, as: 'tryAcquire' },
    async () => {
      const id = await semaphore.tryAcquire(wait, lease)
      began = semaphore.lastTry
      // Java grants a permit whose lease was over before the answer. A thread that looks at its clock does not count it as its own.
      return caller.now() < began + lease * OF_THE_LEASE ? id : undefined
    },
    (id) => (id === undefined ? { ok: false } : { ok: true, owners: [id] }),
  )
  const id = taken?.value
  if (!taken || id === undefined) return
  if (!(await works(caller, taken.id, began, lease))) return
  await asks(caller, { object, operation: 'release', hold: taken.id }, async () => {
    if (!(await semaphore.tryRelease(id)))
      throw Object.assign(new Error('not held'), { code: 'PERMIT_NOT_HELD' })
  })
}

/** A thread counts a latch down, awaits it, or sets it anew. */
export async function javaLatchStep(
  caller: JavaCaller,
  object: SimulatedObject,
  count: number,
): Promise<void> {
  const { java, choices, recorder } = caller
  const latch = java.latch(object.name)
  recorder.sections++
  switch (choices.weigh([6, 3, 2])) {
    case 0:
      await asks(caller, { object, operation: 'count-down' }, () => latch.countDown())
      return
    case 1: {
      const wait = [LONGEST_WAIT, 5, 500][choices.weigh([4, 1, 1])]!
      await asks(caller, { object, operation: 'await', wait }, () => latch.await(wait), told)
      return
    }
    default:
      await asks(caller, { object, operation: 'set', units: count }, () => latch.trySetCount(count), told)
  }
}

/** What a Java client does in a scene: so many sections of each thread. */
export const javaThreads = (play: (caller: JavaCaller) => Promise<void>) => (caller: JavaCaller) =>
  repeat(caller, caller.settings.sections, () => play(caller))
