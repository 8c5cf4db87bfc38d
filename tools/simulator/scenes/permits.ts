import type { Permit } from '../../../src/synchronizers/permits/permit'
import type { SimulatedObject } from '../judge/history'
import { type Asked, abortAfter, operation, repeat, setFirst } from '../operation'
import type { Caller, Scene } from '../scene'
import { javaPermitSection, javaThreads } from './java'

/** Where the server has lost the count, no permit is ever free again. */
const LONGEST_WAIT = 60_000

/** A permit in the hands of a caller. */
class Held {
  private isOver = false
  private isReleasing = false

  constructor(
    private readonly caller: Caller,
    readonly permit: Permit,
    /** The call that acquired it. */
    readonly id: number,
  ) {
    caller.recorder.sections++
    permit.signal.addEventListener('abort', () => this.over('signal'), { once: true })
  }

  private over(how: 'signal' | 'not-held'): void {
    if (!this.isOver && !this.isReleasing) this.caller.recorder.told(this.id, how)
    this.isOver = true
  }

  /** Whether it is held, as its holder finds. */
  look(): boolean {
    if (!this.permit.isHeld) this.over('not-held')
    return !this.isOver
  }

  releases(): void {
    this.look()
    this.isReleasing = true
  }
}

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
  const held = await acquired(caller, owner, asked, () =>
    wait === undefined
      ? semaphore.acquirePermit(options)
      : semaphore.tryAcquirePermit({ ...options, waitTime: wait }),
  )
  if (!held) return
  for (let piece = 0; piece < 2; piece++) {
    if (!held.look()) break
    recorder.acted(held.id)
    if (length > 0) await caller.sleep(length / 2)
  }
  await release(caller, owner, object, held)
}

async function acquired(
  caller: Caller,
  owner: string,
  asked: Asked,
  acquire: () => Promise<Permit | undefined>,
): Promise<Held | undefined> {
  const taken = await operation(caller, owner, asked, acquire, (permit) =>
    permit ? { ok: true, owners: [permit.id] } : { ok: false },
  )
  return taken?.value && new Held(caller, taken.value, taken.id)
}

async function release(caller: Caller, owner: string, object: SimulatedObject, held: Held): Promise<void> {
  held.releases()
  await operation(caller, owner, { object, operation: 'release', hold: held.id }, () => held.permit.release())
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
        await setFirst(caller, object, total, () => leased.trySetPermits(total))
      },
      caller(caller) {
        return repeat(caller, caller.settings.sections, () => permitSection(caller, object))
      },
    }
  },
}
