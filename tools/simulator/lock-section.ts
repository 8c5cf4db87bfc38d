import type { LockHold } from '../../src/api/lock-hold'
import type { SimulatedObject } from './judge/history'
import type { Caller } from './scene'

interface Options {
  waitTime?: number
  leaseTime?: number
  threadId?: number
  signal?: AbortSignal
}

/** What has the three ways to hold something: every lock. */
export interface Holdable {
  acquire(options?: Omit<Options, 'waitTime'>): Promise<LockHold>
  tryAcquire(options?: Options): Promise<LockHold | undefined>
  withLock<T>(fn: (hold: LockHold) => T | Promise<T>, options?: Options): Promise<T>
}

/** How one caller takes a lock, once. */
interface Way {
  readonly wait: number | undefined
  readonly lease: number | undefined
  readonly abortAfter: number | undefined
  readonly scope: 'unscoped' | 'run' | 'thread id'
  readonly as: 'acquire' | 'withLock'
  readonly length: number
  /** In how many pieces it works. */
  readonly pieces: number
  readonly reenters: boolean
}

/** One for all: to make an error costs more than a section. */
const ABORTED = Object.assign(new Error('aborted'), { name: 'AbortError' })
const FOREVER = undefined

function drawWay({ choices, settings }: Caller, mayScope: boolean): Way {
  const lease = choices.weigh([5, 3]) === 0 ? undefined : choices.pick(settings.leases)
  const longest = lease ?? settings.watchdogTimeout
  const wait = [FOREVER, 0, 1, 20, 500, 5_000][choices.weigh([8, 2, 1, 1, 1, 1])]
  const abortAfter = [undefined, 0, 1, 2, 5, 50, 1_000][choices.weigh([20, 1, 1, 1, 1, 1, 1])]
  const scope = mayScope ? choices.pick(['unscoped', 'run', 'thread id'] as const) : 'unscoped'
  const as = choices.weigh([2, 1]) === 0 ? 'acquire' : 'withLock'
  const length = [0, 1, 3, 10, 50, longest * 0.9, longest, longest * 2.5][
    choices.weigh([8, 8, 6, 6, 2, 0.3, 0.2, 0.2])
  ]!
  const pieces = choices.weigh([4, 2, 1]) + 1
  const reenters = scope !== 'unscoped' && choices.happens(0.2)
  return { wait, lease, abortAfter, scope, as, length, pieces, reenters }
}

/** What a section does inside, beside acting. */
export type Inside = (hold: LockHold, id: number, owner: string) => Promise<void>

/**
 * One caller takes the lock in one of all ways, works in it, and releases it. It looks before each action whether it still holds
 * the lock, as the documentation asks for.
 */
export async function lockSection(
  caller: Caller,
  object: SimulatedObject,
  lock: Holdable,
  {
    mayScope = true,
    mayReenter = true,
    token,
    inside,
  }: {
    mayScope?: boolean
    mayReenter?: boolean
    token?: (hold: LockHold) => number
    inside?: Inside
  } = {},
): Promise<boolean> {
  const way = drawWay(caller, mayScope)
  const section = new Section(caller, object, lock, way, mayReenter, token, inside)
  if (way.scope === 'run') return await caller.redisson.run(() => section.play())
  return await section.play()
}

class Section {
  private readonly owner: string
  private readonly threadId: number | undefined

  constructor(
    private readonly caller: Caller,
    private readonly object: SimulatedObject,
    private readonly lock: Holdable,
    private readonly way: Way,
    private readonly mayReenter: boolean,
    private readonly token: ((hold: LockHold) => number) | undefined,
    private readonly inside: Inside | undefined,
  ) {
    this.threadId = way.scope === 'thread id' ? caller.threadId() : undefined
    this.owner = this.threadId === undefined ? `${caller.name}.${caller.count()}` : `thread ${this.threadId}`
  }

  /** Whether it was acquired. */
  async play(): Promise<boolean> {
    const { way } = this
    return way.as === 'withLock'
      ? await this.withLock()
      : (await this.section(way.wait, way.lease, 1)) !== undefined
  }

  private options(wait: number | undefined, lease: number | undefined): Options {
    const { way, caller, threadId } = this
    let signal: AbortSignal | undefined
    if (way.abortAfter !== undefined) {
      const controller = new AbortController()
      signal = controller.signal
      caller.sleep(way.abortAfter).then(() => controller.abort(ABORTED))
    }
    return {
      ...(wait === undefined ? {} : { waitTime: wait }),
      ...(lease === undefined ? {} : { leaseTime: lease }),
      ...(threadId === undefined ? {} : { threadId }),
      ...(signal ? { signal } : {}),
    }
  }

  private called(as: string, wait: number | undefined, lease: number | undefined): number {
    const { caller, object, owner } = this
    return caller.recorder.call({
      ...{ client: caller.client.name, caller: owner, object, operation: 'acquire', as },
      ...(wait === undefined ? {} : { wait }),
      ...(lease === undefined ? {} : { lease }),
    })
  }

  private granted(id: number, hold: LockHold, level: number) {
    const { caller, token } = this
    const { recorder } = caller
    recorder.sections++
    recorder.returned(id, {
      ok: true,
      owners: [hold.owner],
      ...(token ? { token: token(hold) } : {}),
      ...(level > 1 ? { level } : {}),
    })
  }

  /** Records once that the hold ended without a release. Returns whether it did so far. */
  private watch(id: number, hold: LockHold): { isOver: () => boolean; release: () => void } {
    const { recorder } = this.caller
    let [over, released] = [false, false]
    const tell = (how: 'signal' | 'not-held') => {
      if (!over && !released) recorder.told(id, how)
      over = true
    }
    hold.signal.addEventListener('abort', () => tell('signal'), { once: true })
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
  ): Promise<LockHold | undefined> {
    const { lock, caller } = this
    const { recorder } = caller
    const options = this.options(wait, lease)
    const id = this.called(wait === undefined ? 'acquire' : 'tryAcquire', wait, lease)
    let hold: LockHold | undefined
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
    await this.work(hold, id, watched.isOver, level)
    watched.release()
    const release = recorder.call({
      ...{
        client: caller.client.name,
        caller: this.owner,
        object: this.object,
        operation: 'release',
        hold: id,
      },
    })
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
    const id = this.called('withLock', way.wait, way.lease)
    let release: number | undefined
    try {
      await lock.withLock(
        async (hold) => {
          this.granted(id, hold, 1)
          const watched = this.watch(id, hold)
          await this.work(hold, id, watched.isOver, 1)
          watched.release()
          release = recorder.call({
            ...{
              client: caller.client.name,
              caller: this.owner,
              object: this.object,
              operation: 'release',
              hold: id,
            },
          })
        },
        this.options(way.wait, way.lease),
      )
      recorder.returned(release!, { ok: true })
    } catch (error) {
      if (release !== undefined) recorder.failed(release, error)
      else if ((error as { code?: string }).code === 'LOCK_TIMEOUT') recorder.returned(id, { ok: false })
      else recorder.failed(id, error)
    }
    return release !== undefined
  }

  private async work(hold: LockHold, id: number, isOver: () => boolean, level: number) {
    const { way, caller } = this
    if (this.mayReenter && way.reenters && level < 3)
      await this.section(
        undefined,
        way.lease === undefined ? caller.choices.pick(caller.settings.leases) : undefined,
        level + 1,
      )
    for (let piece = 0; piece < way.pieces && !isOver(); piece++) {
      caller.recorder.acted(id)
      if (way.length > 0) await caller.sleep(way.length / way.pieces)
    }
    if (this.inside && !isOver()) await this.inside(hold, id, this.owner)
  }
}
