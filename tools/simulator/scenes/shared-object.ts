import type { Lease } from '../../../src/leases/lease'
import type { Redisson } from '../../../src/redisson'
import { internalsOf } from '../../../test/kit/internals'
import type { SimulatedObject } from '../judge/history'
import { abortAfter, operation } from '../operation'
import type { Caller, Scene } from '../scene'
import { type AnyLock, lockOf } from './lock-of'

/** A caller without a hold object looks at its own clock, and does nothing more when this much of a lease is over. */
const OF_THE_LEASE = 0.8
/** Only its callers read. */
const READING_CLIENT = 'c1'

const KINDS = ['lock', 'fair', 'read', 'fair', 'read', 'fenced', 'spin', 'token', 'non-reentrant'] as const

/** The one lock object that all callers of a client share, and what they hold through it. */
class SharedObject {
  readonly lock: AnyLock
  /** The call that acquired, by owner field. */
  private readonly holds = new Map<string, number>()
  /** The leases whose end the history does not have. */
  private readonly leases = new Map<Lease, number>()

  constructor(
    private readonly caller: Caller,
    readonly object: SimulatedObject,
  ) {
    const { redisson, recorder } = caller
    this.lock = lockOf(redisson, object)
    redisson.on('lockLost', ({ lockName, threadId }) => {
      if (lockName !== object.name) return
      for (const [field, id] of this.holds)
        if (field.split(':')[1] === String(threadId)) recorder.told(id, 'signal')
    })
  }

  /** The newest grant that no caller has yet. */
  claim(): Lease | undefined {
    const leases = internalsOf(this.caller.redisson).leases.live.on(this.object.name)
    return [...leases].findLast(({ ownerField }) => !this.holds.has(ownerField))
  }

  began(lease: Lease, id: number): void {
    this.holds.set(lease.ownerField, id)
    this.leases.set(lease, id)
  }

  /** No event tells of the end of an explicit lease. */
  noteExpired(): void {
    for (const [lease, id] of this.leases) {
      if (lease.checkLive()) continue
      this.leases.delete(lease)
      if (lease.state === 'expired') this.caller.recorder.told(id, 'lease')
    }
  }
}

const shared = new WeakMap<Redisson, Map<string, SharedObject>>()

function sharedBy(caller: Caller, object: SimulatedObject): SharedObject {
  const objects = shared.get(caller.redisson) ?? new Map<string, SharedObject>()
  shared.set(caller.redisson, objects)
  const one = objects.get(object.name) ?? new SharedObject(caller, object)
  objects.set(object.name, one)
  return one
}

/** `lock()` or `tryLock()`, work that is shorter than any renewed lease, and `unlock()`. */
async function section(caller: Caller, own: SharedObject): Promise<void> {
  const { lock, object } = own
  const { choices, settings, recorder } = caller
  const owner = `${caller.name}.${caller.count()}`
  const lease = choices.weigh([5, 3]) === 0 ? undefined : choices.pick(settings.leases)
  const wait = [undefined, 0, 1, 20, 500][choices.weigh([6, 3, 1, 1, 1])]
  const now = () => caller.client.process.now().monotonic
  const began = now()
  const aborted = [undefined, 0, 1, 2][choices.weigh([12, 1, 1, 1])]
  const signal = aborted === undefined ? undefined : abortAfter(caller, aborted)
  const options = lease === undefined ? { signal } : { signal, leaseTime: lease }
  let granted: Lease | undefined
  const taken = await operation(
    caller,
    owner,
    {
      ...({ object, operation: 'acquire', as: wait === undefined ? 'lock' : 'tryLock' } as const),
      ...(wait === undefined ? {} : { wait }),
      ...(lease === undefined ? {} : { lease }),
    },
    async () => {
      if (wait === undefined) await lock.lock(options)
      else if (!(await lock.tryLock({ ...options, waitTime: wait }))) return false
      granted = own.claim()
      return true
    },
    (ok) => ({ ok, ...(granted && { owners: [granted.ownerField] }) }),
  )
  if (!taken?.value) return
  recorder.sections++
  recorder.acted(taken.id)
  if (granted) own.began(granted, taken.id)
  const left = () => (lease === undefined ? Number.POSITIVE_INFINITY : began + lease * OF_THE_LEASE - now())
  const length = [0, 1, 3, 10, 50][choices.weigh([8, 8, 6, 4, 2])]!
  await caller.sleep(Math.max(0, Math.min(length, left())))
  own.noteExpired()
  if (left() <= 0) recorder.told(taken.id, 'lease')
  await operation(caller, owner, { object, operation: 'release', hold: taken.id }, () => lock.unlock())
}

/** How often a stranger looks for a key that it wants to delete, in ms, and how many times. */
const LOOKS_EVERY = 0.05
const LOOKS = 40

/** A stranger deletes the key as soon as it is there, perhaps before the answer to its acquisition has arrived. */
async function deleteKey(
  { servers: [server], recorder, settings, sleep }: Caller,
  { name }: SimulatedObject,
) {
  for (let looks = 0; looks < LOOKS; looks++) {
    await sleep(LOOKS_EVERY)
    if (server!.isDown) return
    if (server!.call('EXISTS', name) === 0) continue
    recorder.fault('DEL by a caller', ['force', 'loss', 'data', 'order', 'delay'], {
      recovery: Math.max(settings.watchdogTimeout, ...settings.leases),
      names: [name],
    })
    server!.call('DEL', name)
    return
  }
}

export const sharedObject: Scene = {
  name: 'shared-object',
  about:
    'lock(), tryLock() and unlock() without a thread, by many callers through one lock object of each client',
  setUp(choices) {
    const kind = choices.pick(KINDS)
    const object: SimulatedObject = { kind, name: 'one', callersAreAlike: true }
    const writing: SimulatedObject = { ...object, kind: 'write' }
    // A reader does not learn from the next one that its key was deleted: its late unlock() may release that one.
    const deletes = kind === 'read' ? 0 : choices.pick([0.1, 0, 0.3])
    return {
      objects: kind === 'read' ? [object, writing] : [object],
      async caller(caller) {
        const isReader = kind === 'read' && caller.client.name === READING_CLIENT
        const own = sharedBy(caller, kind === 'read' && !isReader ? writing : object)
        for (let run = 0; run < caller.settings.sections; run++) {
          if (caller.choices.happens(deletes)) void deleteKey(caller, object)
          await section(caller, own)
          await caller.sleep(caller.choices.pick([0, 1, 2, 5]))
        }
      },
    }
  },
}
