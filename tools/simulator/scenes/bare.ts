import type { LockLostEvent } from '../../../src/api/events'
import type { RLock } from '../../../src/engine/rlock'
import { internalsOf } from '../../../test/kit/internals'
import type { SimulatedObject } from '../judge/history'
import { operation, repeat, told } from '../operation'
import type { Caller, Scene } from '../scene'

/** A caller without a hold object looks at its own clock, and does nothing more when this much of a lease is over. */
const OF_THE_LEASE = 0.8

/** `lock()` or `tryLock()`, work that is shorter than any renewed lease, and `unlock()`, by a thread id. */
async function section(caller: Caller, object: SimulatedObject): Promise<void> {
  const { choices, settings, redisson, recorder, name } = caller
  const lock = redisson.getLock(object.name)
  const threadId = caller.threadId()
  const lease = choices.weigh([5, 3]) === 0 ? undefined : choices.pick(settings.leases)
  const wait = [undefined, 0, 1, 20, 500][choices.weigh([6, 2, 1, 1, 1])]
  const now = () => caller.client.process.now().monotonic
  const began = now()
  const options = { threadId, ...(lease === undefined ? {} : { leaseTime: lease }) }
  const taken = await operation(
    caller,
    name,
    {
      ...({ object, operation: 'acquire', as: wait === undefined ? 'lock' : 'tryLock' } as const),
      ...(wait === undefined ? {} : { wait }),
      ...(lease === undefined ? {} : { lease }),
    },
    async () => {
      if (wait !== undefined) return await lock.tryLock({ ...options, waitTime: wait })
      await lock.lock(options)
      return true
    },
    told,
  )
  if (!taken?.value) return
  recorder.sections++
  recorder.acted(taken.id)
  // One caller of a client is inside, so the newest hold is this one.
  const own = [...internalsOf(redisson).leases.live.on(object.name)].at(-1)?.ownerField
  const lost = ({ owner }: LockLostEvent) => {
    if (owner === own) recorder.told(taken.id, 'signal')
  }
  redisson.on('lockLost', lost)
  const left = () => (lease === undefined ? Number.POSITIVE_INFINITY : began + lease * OF_THE_LEASE - now())
  const length = [0, 1, 3, 10, 50][choices.weigh([8, 8, 6, 4, 2])]!
  await caller.sleep(Math.max(0, Math.min(length, left())))
  if (left() <= 0) {
    recorder.told(taken.id, 'lease')
    // unlock() finds it lost.
    await caller.sleep(2 * Math.max(settings.watchdogTimeout, ...settings.leases))
  }
  await operation(caller, name, { object, operation: 'release', hold: taken.id }, () =>
    lock.unlock({ threadId }),
  ).finally(() => redisson.off('lockLost', lost))
}

/** A caller takes the lock from its owner by force, or looks. */
async function meddle(caller: Caller, object: SimulatedObject, lock: RLock): Promise<void> {
  const { choices, recorder, settings, name } = caller
  if (choices.weigh([1, 1]) === 0) {
    await operation(caller, name, { object, operation: 'look', as: 'isLocked' }, () => lock.isLocked())
    return
  }
  // Behind a silent server, or where the owner changes all the time, the call takes longer than any lease.
  const ended = recorder.fault('forceUnlock', ['force', 'loss', 'order'], {
    recovery: Math.max(settings.watchdogTimeout, ...settings.leases),
    names: [object.name],
  })
  await operation(caller, name, { object, operation: 'force-release', as: 'forceUnlock' }, () =>
    lock.forceUnlock(),
  )
  ended()
}

export const bare: Scene = {
  name: 'bare',
  about: 'lock(), tryLock(), unlock() and forceUnlock() by thread ids, without hold objects',
  setUp(choices) {
    const names = choices.pick([['one'], ['one', 'two']])
    const objects = names.map((name): SimulatedObject => ({ kind: 'lock', name }))
    const force = choices.pick([0, 0.05])
    return {
      objects,
      caller(caller) {
        return repeat(caller, caller.settings.sections, () => {
          const object = caller.choices.pick(objects)
          if (caller.choices.happens(force))
            return meddle(caller, object, caller.redisson.getLock(object.name))
          else return section(caller, object)
        })
      },
    }
  },
}
