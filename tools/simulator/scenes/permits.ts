import type { PermitLostEvent } from '../../../src/api/events'
import type { Permit } from '../../../src/api/permit'
import type { Redisson } from '../../../src/redisson'
import type { SimulatedObject } from '../judge/history'
import { type Asked, abortAfter, operation } from '../operation'
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

/** Permits whose `tryRelease()` of a list is in flight. */
const inFlight = new WeakMap<Redisson, Set<Held>>()

/** One caller takes a permit, with a lease or renewed by the watchdog, works in it, and releases it. */
export async function permitSection(
  caller: Caller,
  object: SimulatedObject,
  mayReleaseTogether = false,
): Promise<void> {
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
  const { permit } = held
  if (choices.happens(0.1)) {
    const renewed = choices.pick([-1, ...settings.leases])
    const look = { object, operation: 'look', as: 'updateLeaseTime' } as const
    await operation(caller, owner, look, () => semaphore.updateLeaseTime(permit.id, renewed))
  }
  for (let piece = 0; piece < 2; piece++) {
    if (!held.look()) break
    recorder.acted(held.id)
    if (length > 0) await caller.sleep(length / 2)
  }
  const ways = caller.stream('tryRelease')
  if (!mayReleaseTogether || !ways.happens(0.5)) return await release(caller, owner, object, held)
  const second = ways.happens(0.4)
    ? await acquired(caller, owner, { object, operation: 'acquire', as: 'tryAcquirePermit', wait: 0 }, () =>
        semaphore.tryAcquirePermit(),
      )
    : undefined
  await releaseTogether(caller, owner, object, second ? [held, second] : [held])
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
  // Another caller of the client may look at any time.
  for (const held of inFlight.get(caller.redisson) ?? [])
    if (held.permit.isHeld) caller.recorder.acted(held.id)
  return taken?.value && new Held(caller, taken.value, taken.id)
}

async function release(caller: Caller, owner: string, object: SimulatedObject, held: Held): Promise<void> {
  held.releases()
  await operation(caller, owner, { object, operation: 'release', hold: held.id }, () => held.permit.release())
}

/** By `tryRelease()` of their ids: all, or none where one of them is gone. */
async function releaseTogether(
  caller: Caller,
  owner: string,
  object: SimulatedObject,
  permits: readonly Held[],
): Promise<void> {
  const { redisson, recorder } = caller
  const semaphore = redisson.getPermitExpirableSemaphore(object.name)
  const others = inFlight.get(redisson) ?? new Set()
  inFlight.set(redisson, others)
  const gone = ({ permitId, reason }: PermitLostEvent) => {
    const held = permits.find(({ permit }) => permit.id === permitId)
    if (held && reason === 'gone') recorder.told(held.id, 'gone')
  }
  for (const held of permits) {
    held.releases()
    others.add(held)
  }
  redisson.on('permitLost', gone)
  const count = semaphore.tryRelease(permits.map(({ permit }) => permit.id))
  const ended = () => {
    redisson.off('permitLost', gone)
    for (const held of permits) others.delete(held)
  }
  count.then(ended, ended)
  const asked = { object, operation: 'release', as: 'tryRelease' } as const
  const answers = permits.map(({ id }) =>
    operation(
      caller,
      owner,
      { ...asked, hold: id },
      () => count,
      (released) => ({ ok: released > 0 }),
    ),
  )
  // None is released where one of them was gone, or where the server refused the call.
  for (const [index, answer] of (await Promise.all(answers)).entries())
    if (!answer?.value && permits[index]!.permit.isHeld) await release(caller, owner, object, permits[index]!)
}

export const permits: Scene = {
  name: 'permits',
  about:
    'an expirable semaphore: permits with leases, and permits that the watchdog renews, released one by one or by tryRelease()',
  setUp(choices) {
    const object = { kind: 'permits', name: 'leased' } as const
    const total = choices.pick([2, 1, 3])
    // Drawn last, and not in each run: other runs are as they were before there was this choice.
    const mayReleaseTogether = choices.happens(0.5)
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
          await permitSection(caller, object, mayReleaseTogether)
          await caller.sleep(caller.choices.pick([0, 1, 5]))
        }
      },
    }
  },
}
