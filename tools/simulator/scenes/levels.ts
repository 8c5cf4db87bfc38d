import type { Redisson } from '../../../src/redisson'
import type { SimulatedObject } from '../judge/history'
import type { AnyHold, Holdable } from '../lock-section'
import { operation, repeat } from '../operation'
import type { Caller, Scene } from '../scene'

const SERVERS = 3
const MOST_LEVELS = 4

const at = (name: string, server: number): SimulatedObject => ({
  ...({ kind: 'lock', name } as const),
  server: `server ${server}`,
})
const SINGLE = at('a', 1)
const RED: SimulatedObject = { kind: 'red', name: 'r', members: [1, 2, 3].map((server) => at('r', server)) }
const OBJECTS: readonly SimulatedObject[] = [
  SINGLE,
  { kind: 'multi', name: 'a+b', members: [SINGLE, at('b', 2)] },
  RED,
  { kind: 'multi', name: 'r+c', members: [RED, at('c', 3)] },
]

/** A lock with all its ways to be held. */
interface Lock extends Holdable {
  lock(options: object): Promise<void>
  unlock(options: object): Promise<void>
}

function lockOf(caller: Caller, { kind, name, members = [] }: SimulatedObject): Lock {
  const { redissons } = caller.client
  // The client that makes a lock of several need not be that of a member.
  const maker = caller.choices.pick(redissons) as Redisson
  if (kind === 'red') return maker.getRedLock(...redissons.map((each) => each.getLock(name)))
  if (kind === 'multi') return maker.getMultiLock(...members.map((each) => lockOf(caller, each) as never))
  return redissons['abc'.indexOf(name)]!.getLock(name)
}

/** A logical thread releases in reverse order: a thread that has ended leaves its levels to none. */
const OF_THREADS = ['bare', 'withLock', 'acquire'] as const
/** An explicit thread id may release in any order. */
const OF_IDS = ['bare', 'bare in a branch', 'acquire', 'acquire, released late'] as const

/** Acquires one lock several times, in all ways at once. */
class Levels {
  private readonly owner: string
  private readonly scope: { readonly threadId?: number }
  private taken = 0
  private open = 0
  /** Hold objects that are released at the end, in any order. */
  private readonly late: (() => Promise<void>)[] = []

  constructor(
    private readonly caller: Caller,
    private readonly object: SimulatedObject,
    threadId: number | undefined,
  ) {
    this.scope = threadId === undefined ? {} : { threadId }
    this.owner = threadId === undefined ? `${caller.name}.${caller.count()}` : `thread ${threadId}`
  }

  async play(): Promise<void> {
    await this.level()
    for (const release of this.late) await release()
  }

  private async level(): Promise<void> {
    const { choices, settings } = this.caller
    this.taken++
    const way = choices.pick(this.scope.threadId === undefined ? OF_THREADS : OF_IDS)
    if (way === 'bare' || way === 'bare in a branch') return await this.bare(way !== 'bare')
    const leaseTime = choices.weigh([3, 1]) === 0 ? undefined : choices.pick(settings.leases)
    const given = leaseTime === undefined ? this.scope : { ...this.scope, leaseTime }
    if (way === 'withLock') return await this.withLock(leaseTime)
    const lock = this.lock()
    const taken = await this.acquire('acquire', leaseTime, () => lock.acquire(given))
    if (!taken) return
    this.watch(taken.id, taken.value)
    await this.inside(taken.id)
    const release = () => this.release(taken.id, () => taken.value.unlock())
    if (way === 'acquire') await release()
    else this.late.push(release)
  }

  private async withLock(lease: number | undefined): Promise<void> {
    const { recorder } = this.caller
    const id = recorder.call(this.called(this.asked('withLock', lease)))
    let release: number | undefined
    try {
      await this.lock().withLock(
        async (hold) => {
          recorder.returned(id, this.granted())
          this.watch(id, hold)
          await this.inside(id)
          this.open--
          release = recorder.call(
            this.called({ object: this.object, operation: 'release', hold: id } as const),
          )
        },
        lease === undefined ? {} : { leaseTime: lease },
      )
      recorder.returned(release!, { ok: true })
    } catch (error) {
      recorder.failed(release ?? id, error)
    }
  }

  /**
   * `lock()` and `unlock()`; in a branch, the level is acquired in the `withLock` of another lock. Its holder is told of no loss, so
   * the judge does not know it: what it must find is a level that stays.
   */
  private async bare(inBranch: boolean): Promise<void> {
    const { caller, owner, scope } = this
    const lock = this.lock()
    const other = caller.redisson.getLock(`other of ${caller.client.name} ${owner}`)
    let isTaken = false
    const acquire = async () => {
      await lock.lock(scope)
      isTaken = true
      this.open++
    }
    try {
      await (inBranch ? other.withLock(acquire) : acquire())
    } catch {
      // Its server is away, or the client shuts down; or the other lock was lost.
    }
    if (!isTaken) return
    await this.inside(undefined)
    this.open--
    await lock.unlock(scope).catch(() => {})
  }

  private acquire<T>(as: string, lease: number | undefined, run: () => Promise<T>) {
    return operation(this.caller, this.owner, this.asked(as, lease), run, () => this.granted())
  }

  private granted() {
    this.open++
    return this.open > 1 ? { ok: true, level: this.open } : { ok: true }
  }

  private async inside(id: number | undefined): Promise<void> {
    const { choices, recorder, sleep } = this.caller
    recorder.sections++
    if (id !== undefined) recorder.acted(id)
    await sleep(choices.pick([0, 1, 3, 10]))
    while (this.taken < MOST_LEVELS && choices.happens(0.5)) await this.level()
  }

  private lock(): Lock {
    return lockOf(this.caller, this.object)
  }

  private watch(id: number, hold: AnyHold) {
    hold.signal.addEventListener('abort', () => this.caller.recorder.told(id, 'signal'), { once: true })
  }

  private async release(id: number, run: () => Promise<void>): Promise<void> {
    const { caller, owner, object } = this
    this.open--
    await operation(caller, owner, { object, operation: 'release', hold: id }, run)
  }

  private asked(as: string, lease: number | undefined) {
    const asked = { object: this.object, operation: 'acquire', as } as const
    return lease === undefined ? asked : { ...asked, lease }
  }

  private called<T>(asked: T) {
    return { ...asked, client: this.caller.client.name, caller: this.owner }
  }
}

export const levels: Scene = {
  name: 'levels',
  about:
    'levels of one lock, multi lock or RedLock by lock(), withLock() and acquire() together, nested in each other',
  servers: SERVERS,
  mayHaveReplica: false,
  setUp() {
    return {
      objects: [...OBJECTS, at('b', 2), at('c', 3)],
      caller(caller) {
        const { settings, choices, redisson } = caller
        return repeat(caller, settings.sections / 2, () => {
          const object = choices.pick(OBJECTS)
          if (choices.happens(0.5)) return new Levels(caller, object, caller.threadId()).play()
          else return redisson.run(() => new Levels(caller, object, undefined).play())
        })
      },
    }
  },
}
