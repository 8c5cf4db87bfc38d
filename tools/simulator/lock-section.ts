import type { TryLockOptions } from '../../src/api/call-options'
import type { LockHold } from '../../src/api/lock-hold'
import type { SimulatedObject } from './judge/history'
import { abortAfter } from './operation'
import type { Caller } from './scene'

type Options = TryLockOptions

/** A hold of any lock. That of several members has no owner of its own. */
export type AnyHold = Pick<LockHold, 'signal' | 'isHeld' | 'unlock'> & { readonly owner?: string }

/** What has the three ways to hold something: every lock. */
export interface Holdable {
  acquire(options?: Omit<Options, 'waitTime'>): Promise<AnyHold>
  tryAcquire(options?: Options): Promise<AnyHold | undefined>
  withLock<T>(fn: (hold: AnyHold) => T | Promise<T>, options?: Options): Promise<T>
}

/** How one caller takes a lock, once. */
export interface Way {
  readonly wait: number | undefined
  readonly lease: number | undefined
  /** The maxHoldTime of its first level. */
  readonly limit?: number | undefined
  readonly abortAfter: number | undefined
  readonly scope: 'unscoped' | 'run' | 'thread id'
  readonly as: 'acquire' | 'withLock'
  readonly length: number
  /** In how many pieces it works. */
  readonly pieces: number
  readonly reenters: boolean
}

const FOREVER = undefined

function drawWay(
  { choices, settings }: Caller,
  { mayScope = true, stepsDownTo, as: given, leases = settings.leases }: SectionOptions,
): Way {
  const lease = choices.weigh([5, 3]) === 0 ? undefined : choices.pick(leases)
  const longest = lease ?? settings.watchdogTimeout
  const wait = [FOREVER, 0, 1, 20, 500, 5_000][choices.weigh([8, 2, 1, 1, 1, 1])]
  const abortAfter = [undefined, 0, 1, 2, 5, 50, 1_000][choices.weigh([20, 1, 1, 1, 1, 1, 1])]
  const drawn = mayScope ? choices.pick(['unscoped', 'run', 'thread id'] as const) : 'unscoped'
  // Only a caller with an identity can have both sides.
  const scope = stepsDownTo && drawn === 'unscoped' ? 'run' : drawn
  const drawnAs = choices.weigh([2, 1]) === 0 || scope === 'thread id' ? 'acquire' : 'withLock'
  const as = given ?? drawnAs
  const length = [0, 1, 3, 10, 50, longest * 0.9, longest, longest * 2.5][
    choices.weigh([8, 8, 6, 6, 2, 0.3, 0.2, 0.2])
  ]!
  const pieces = choices.weigh([4, 2, 1]) + 1
  const reenters = scope !== 'unscoped' && choices.happens(0.2)
  return { wait, lease, abortAfter, scope, as, length, pieces, reenters }
}

export interface SectionOptions {
  /** Whether callers may have a logical thread or an explicit thread id, which re-enter. */
  readonly mayScope?: boolean
  readonly mayReenter?: boolean
  /** The fencing token of a hold. */
  readonly token?: (hold: AnyHold) => number
  /** The only way to take it. */
  readonly as?: Way['as']
  /** What is not drawn. */
  readonly way?: Partial<Way>
  /** The leases to choose from; those of the run by default. */
  readonly leases?: readonly number[]
  /** What else happens inside. */
  readonly inside?: () => Promise<void>
  /** A writer takes this inside, and keeps it when it has released. */
  readonly stepsDownTo?: { readonly object: SimulatedObject; readonly lock: Holdable }
}

/**
 * One caller takes the lock in one of all ways, works in it, and releases it. It looks before each action whether it still holds
 * the lock, as the documentation asks for.
 */
export async function lockSection(
  caller: Caller,
  object: SimulatedObject,
  lock: Holdable,
  options: SectionOptions = {},
): Promise<boolean> {
  const way = { ...drawWay(caller, options), ...options.way }
  const section = new Section(caller, object, lock, way, options)
  if (way.scope === 'run') return await caller.redisson.run(() => section.play())
  return await section.play()
}

class Section {
  private readonly owner: string
  private readonly threadId: number | undefined

  /** The section of the read lock to which it stepped down. */
  private below: Promise<unknown> | undefined

  constructor(
    private readonly caller: Caller,
    private readonly object: SimulatedObject,
    private readonly lock: Holdable,
    private readonly way: Way,
    private readonly options: SectionOptions,
    owner?: string,
  ) {
    this.threadId = way.scope === 'thread id' ? caller.threadId() : undefined
    if (owner !== undefined) this.owner = owner
    else
      this.owner =
        this.threadId === undefined ? `${caller.name}.${caller.count()}` : `thread ${this.threadId}`
  }

  /** Whether it was acquired. */
  async play(): Promise<boolean> {
    const { wait, lease, as } = this.way
    const acquired =
      as === 'withLock' ? await this.withLock() : (await this.section(wait, lease, 1)) !== undefined
    await this.below
    return acquired
  }

  private requestOf(wait: number | undefined, lease: number | undefined, limit?: number): Options {
    const { way, caller, threadId } = this
    const options: Options = {}
    if (wait !== undefined) options.waitTime = wait
    if (lease !== undefined) options.leaseTime = lease
    if (limit !== undefined) options.maxHoldTime = limit
    if (threadId !== undefined) options.threadId = threadId
    if (way.abortAfter !== undefined) options.signal = abortAfter(caller, way.abortAfter)
    return options
  }

  private called(as: string, wait: number | undefined, lease: number | undefined, limit?: number): number {
    const { caller, object, owner } = this
    const client = caller.client.name
    return caller.recorder.call({
      client,
      caller: owner,
      object,
      operation: 'acquire',
      as,
      wait,
      lease,
      limit,
    })
  }

  private released(hold: number): number {
    const { caller, object, owner } = this
    return caller.recorder.call({
      client: caller.client.name,
      caller: owner,
      object,
      operation: 'release',
      hold,
    })
  }

  private granted(id: number, hold: AnyHold, level: number) {
    const { caller } = this
    const { token } = this.options
    const { recorder } = caller
    this.onEntered?.()
    recorder.sections++
    recorder.returned(id, {
      ok: true,
      owners: hold.owner === undefined ? undefined : [hold.owner],
      token: token?.(hold),
      level: level > 1 ? level : undefined,
    })
  }

  /** Records once that the hold ended without a release. Returns whether it did so far. */
  private watch(id: number, hold: AnyHold): { isOver: () => boolean; release: () => void } {
    const { recorder } = this.caller
    let [over, released] = [false, false]
    const tell = (how: 'signal' | 'not-held') => {
      if (!over && !released) recorder.told(id, how)
      over = true
    }
    // An acquisition that was answered as its client closed is over at once.
    if (hold.signal.aborted) tell('signal')
    else hold.signal.addEventListener('abort', () => tell('signal'), { once: true })
    return {
      isOver: () => {
        if (!over && !hold.isHeld) tell('not-held')
        return over
      },
      release: () => {
        released = true
      },
    }
  }

  private async section(
    wait: number | undefined,
    lease: number | undefined,
    level: number,
  ): Promise<AnyHold | undefined> {
    const { lock, caller } = this
    const { recorder } = caller
    const limit = level === 1 ? this.way.limit : undefined
    const options = this.requestOf(wait, lease, limit)
    const id = this.called(wait === undefined ? 'acquire' : 'tryAcquire', wait, lease, limit)
    let hold: AnyHold | undefined
    try {
      hold = wait === undefined ? await lock.acquire(options) : await lock.tryAcquire(options)
    } catch (error) {
      recorder.failed(id, error)
      return undefined
    }
    if (!hold) {
      recorder.returned(id, { ok: false })
      return undefined
    }
    this.granted(id, hold, level)
    const watched = this.watch(id, hold)
    await this.work(id, watched.isOver, level)
    watched.release()
    const release = this.released(id)
    try {
      await hold.unlock()
      recorder.returned(release, { ok: true })
    } catch (error) {
      recorder.failed(release, error)
    }
    return hold
  }

  private async withLock(): Promise<boolean> {
    const { lock, caller, way } = this
    const { recorder } = caller
    const id = this.called('withLock', way.wait, way.lease, way.limit)
    let release: number | undefined
    try {
      await lock.withLock(
        async (hold) => {
          this.granted(id, hold, 1)
          const watched = this.watch(id, hold)
          await this.work(id, watched.isOver, 1)
          watched.release()
          release = this.released(id)
        },
        this.requestOf(way.wait, way.lease, way.limit),
      )
      recorder.returned(release!, { ok: true })
    } catch (error) {
      if (release !== undefined) recorder.failed(release, error)
      else if ((error as { code?: string }).code === 'LOCK_TIMEOUT') recorder.returned(id, { ok: false })
      else recorder.failed(id, error)
    }
    return release !== undefined
  }

  private async work(id: number, isOver: () => boolean, level: number) {
    const { way, caller } = this
    if (this.options.mayReenter !== false && way.reenters && level < 3)
      await this.section(
        undefined,
        way.lease === undefined ? caller.choices.pick(caller.settings.leases) : undefined,
        level + 1,
      )
    for (let piece = 0; piece < way.pieces && !isOver(); piece++) {
      caller.recorder.acted(id)
      if (way.length > 0) await caller.sleep(way.length / way.pieces)
    }
    if (this.options.inside && !isOver()) await this.options.inside()
    if (this.options.stepsDownTo && !isOver()) await this.stepDown(this.options.stepsDownTo)
  }

  /** Takes the read lock under the write lock; its section goes on after the write lock is released. */
  private async stepDown({ object, lock }: NonNullable<SectionOptions['stepsDownTo']>) {
    const { caller, way } = this
    const length = caller.choices.pick([1, 0, 5, 20])
    const below = new Section(caller, object, lock, { ...way, ...PLAIN, length }, {}, this.owner)
    await new Promise<void>((entered) => {
      below.onEntered = entered
      this.below = below.play().finally(entered)
    })
  }

  private onEntered: (() => void) | undefined
}

const PLAIN = {
  wait: undefined,
  lease: undefined,
  abortAfter: undefined,
  as: 'acquire',
  pieces: 1,
  reenters: false,
} as const
