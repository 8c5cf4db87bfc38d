import type { SimulatedObject } from '../judge/history'
import { type Holdable, lockSection } from '../lock-section'
import { operation, repeat } from '../operation'
import type { Caller, Scene } from '../scene'

const SERVERS = 3
/** A RedLock asks each member for a tenth of the lease at most, which must be longer than a round trip. */
const LEASES = [200, 1_000, 5_000]
const PAUSES = [0, 1, 10, 100, 300, 1_500]

const at = (name: string, server: number): SimulatedObject => ({
  ...({ kind: 'lock', name, isHeldUnseen: true } as const),
  server: `server ${server}`,
})
const OBJECTS: readonly SimulatedObject[] = [
  at('a', 1),
  { kind: 'multi', name: 'b+c', isHeldUnseen: true, members: [at('b', 2), at('c', 3)] },
  { kind: 'red', name: 'r', isHeldUnseen: true, members: [1, 2, 3].map((server) => at('r', server)) },
]

interface Lock extends Holdable {
  lock(options?: object): Promise<void>
  unlock(): Promise<void>
}

function lockOf({ client: { redissons } }: Caller, { kind, name }: SimulatedObject): Lock {
  const [one, two, three] = redissons as [(typeof redissons)[0], (typeof redissons)[0], (typeof redissons)[0]]
  if (kind === 'red') return one.getRedLock(...redissons.map((each) => each.getLock(name)))
  return kind === 'multi' ? one.getMultiLock(two.getLock('b'), three.getLock('c')) : one.getLock(name)
}

/** Levels of one lock in a logical thread and in its branches. Some have leases that end before their `unlock()`. */
class Family {
  private readonly owner: string

  constructor(
    private readonly caller: Caller,
    private readonly object: SimulatedObject,
  ) {
    this.owner = `${caller.name}.${caller.count()}`
  }

  async play(): Promise<void> {
    const { choices } = this.caller
    const hasOuter = choices.happens(0.7)
    const unlockOuter = hasOuter ? await this.level() : undefined
    const branches = Array.from({ length: choices.pick([1, 2]) }, (_, index) => this.branch(index))
    await this.pause()
    const releasesFirst = choices.happens(0.5)
    if (releasesFirst) await unlockOuter?.()
    await this.pause()
    if (!hasOuter || releasesFirst) await this.renewed(branches)
    await Promise.all(branches)
    if (!releasesFirst) await unlockOuter?.()
  }

  /** A level that the watchdog renews stays until its own section releases it, whatever the branches do. */
  private async renewed(branches: readonly Promise<void>[]): Promise<void> {
    const { caller, object, owner } = this
    const lock = lockOf(caller, object)
    const taken = await operation(
      ...([caller, owner, { object, operation: 'acquire', as: 'lock' }] as const),
      () => lock.lock(),
      // It may join a hold that a branch has.
      () => ({ ok: true, level: 2 }),
    )
    if (!taken) throw new Error('lock() rejected, although there was no fault')
    caller.recorder.sections++
    caller.recorder.acted(taken.id)
    await this.pause()
    if (caller.choices.happens(0.5)) await Promise.all(branches)
    const release = { object, operation: 'release', hold: taken.id } as const
    if (!(await operation(caller, owner, release, () => lock.unlock())))
      throw new Error('unlock() of a level that is renewed rejected, although there was no fault')
  }

  private async branch(index: number): Promise<void> {
    const { caller, owner } = this
    await caller.redisson.getLock(`${caller.client.name} ${owner} ${index}`).withLock(async () => {
      await this.pause()
      const unlock = await this.level()
      await this.pause()
      await unlock()
    })
  }

  /** One that the judge does not know. Returns what releases it. */
  private async level(): Promise<() => Promise<void>> {
    const leaseTime = this.caller.choices.pick([undefined, ...LEASES])
    const lock = lockOf(this.caller, this.object)
    await lock.lock(leaseTime === undefined ? {} : { leaseTime })
    // It rejects where the lease has ended.
    return () => lock.unlock().catch(() => {})
  }

  private pause(): Promise<void> {
    return this.caller.sleep(this.caller.choices.pick(PAUSES))
  }
}

export const branches: Scene = {
  name: 'branches',
  about:
    'levels of logical threads and their branches, with leases that end before they are released; without faults',
  servers: SERVERS,
  mayHaveReplica: false,
  hasFaults: false,
  setUp(choices) {
    const object = choices.pick(OBJECTS)
    return {
      objects: [object, ...(object.members ?? [])],
      caller(caller) {
        const { settings, redisson } = caller
        return repeat(caller, settings.sections / 4, () => {
          if (caller.choices.happens(0.6)) return redisson.run(() => new Family(caller, object).play())
          else
            return lockSection(caller, object, lockOf(caller, object), { mayReenter: false, leases: LEASES })
        })
      },
    }
  },
}
