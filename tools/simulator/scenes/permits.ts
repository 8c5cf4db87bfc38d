import type { Permit } from '../../../src/api/permit'
import type { SimulatedObject } from '../judge/history'
import { abortAfter, operation } from '../operation'
import type { Caller, Scene } from '../scene'
import { javaPermitSection, javaThreads } from './java'

/** Where the server has lost the count, no permit is ever free again. */
const LONGEST_WAIT = 60_000

/** One caller takes a permit, with a lease or renewed by the watchdog, works in it, and releases it. */
export async function permitSection(caller: Caller, object: SimulatedObject): Promise<void> {
  const { choices, redisson, settings, recorder } = caller
  const semaphore = redisson.getPermitExpirableSemaphore(object.name)
  const owner = `${caller.name}.${caller.count()}`
  const lease = choices.weigh([5, 3]) === 0 ? undefined : choices.pick(settings.leases)
  const wait = [undefined, 0, 1, 20, 500, 5_000][choices.weigh([8, 2, 1, 1, 1, 1])]
  const aborted = [LONGEST_WAIT, 0, 1, 5, 50][choices.weigh([20, 1, 1, 1, 1])]!
  const longest = lease ?? settings.watchdogTimeout
  const length = [0, 1, 3, 10, 50, longest * 0.9, longest * 2.5][choices.weigh([8, 8, 6, 6, 2, 0.3, 0.3])]!
  const leaseTime = lease === undefined ? {} : { leaseTime: lease }
  const options = { ...leaseTime, signal: abortAfter(caller, aborted) }
  const asked = {
    ...({ object, operation: 'acquire' } as const),
    as: wait === undefined ? 'acquirePermit' : 'tryAcquirePermit',
    ...(wait === undefined ? {} : { wait }),
    ...(lease === undefined ? {} : { lease }),
  }
  const taken = await operation(
    caller,
    owner,
    asked,
    (): Promise<Permit | undefined> =>
      wait === undefined
        ? semaphore.acquirePermit(options)
        : semaphore.tryAcquirePermit({ ...options, waitTime: wait }),
    (permit) => (permit ? { ok: true, owners: [permit.id] } : { ok: false }),
  )
  const permit = taken?.value
  if (!permit) return
  recorder.sections++
  const { id } = taken
  let isOver = false
  let isReleasing = false
  const over = (how: 'signal' | 'not-held') => {
    if (!isOver && !isReleasing) recorder.told(id, how)
    isOver = true
  }
  permit.signal.addEventListener('abort', () => over('signal'), { once: true })
  if (choices.happens(0.1)) {
    const renewed = choices.pick([-1, ...settings.leases])
    const look = { object, operation: 'look', as: 'updateLeaseTime' } as const
    await operation(caller, owner, look, () => semaphore.updateLeaseTime(permit.id, renewed))
  }
  for (let piece = 0; piece < 2; piece++) {
    if (!permit.isHeld) over('not-held')
    if (isOver) break
    recorder.acted(id)
    if (length > 0) await caller.sleep(length / 2)
  }
  if (!permit.isHeld) over('not-held')
  isReleasing = true
  await operation(caller, owner, { object, operation: 'release', hold: id }, () => permit.release())
}

export const permits: Scene = {
  name: 'permits',
  about: 'an expirable semaphore: permits with leases, and permits that the watchdog renews',
  setUp(choices) {
    const object = { kind: 'permits', name: 'leased' } as const
    const total = choices.pick([2, 1, 3])
    return {
      objects: [object],
      javaCaller: javaThreads((caller) => javaPermitSection(caller, object)),
      async begin(caller) {
        const leased = caller.redisson.getPermitExpirableSemaphore(object.name)
        const set = { object, operation: 'set', units: total } as const
        await operation(
          caller,
          'first',
          set,
          () => leased.trySetPermits(total),
          (ok) => ({ ok }),
        )
      },
      async caller(caller) {
        for (let section = 0; section < caller.settings.sections; section++) {
          await permitSection(caller, object)
          await caller.sleep(caller.choices.pick([0, 1, 5]))
        }
      },
    }
  },
}
