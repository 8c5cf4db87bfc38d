import { LockLostError, PermitNotHeldError, type Redisson, type RLock } from 'rlock'
import { UsageError } from '../exit'
import { parseTime } from '../times'
import type { Ended } from './child'

/** What the command needs while it runs. */
export interface Held {
  /** Aborts when the lock is lost. */
  readonly signal: AbortSignal
  /** Of a fenced lock. */
  readonly token?: number | undefined
}

/** What is taken, and how. */
export interface Taking {
  readonly name: string
  readonly kind: 'lock' | 'read' | 'fair' | 'fenced' | 'permits' | 'once'
  readonly waitTime: number | undefined
  readonly leaseTime: number | undefined
  readonly maxHoldTime: number | undefined
  /** At most this many at once. */
  readonly permits: number
  readonly atLeast: number
  readonly grace: number
}

const GRACE = 5_000

interface Values {
  readonly wait?: string | undefined
  readonly lease?: string | undefined
  readonly 'max-hold'?: string | undefined
  readonly read?: boolean | undefined
  readonly permits?: string | undefined
  readonly fair?: boolean | undefined
  readonly fenced?: boolean | undefined
  readonly 'at-least'?: string | undefined
  readonly grace?: string | undefined
}

/** Reads the options of `exec`. Throws UsageError where they contradict each other. */
export function taking(name: string, values: Values): Taking {
  const kinds = (
    [
      values.read && 'read',
      values.fair && 'fair',
      values.fenced && 'fenced',
      values.permits !== undefined && 'permits',
      values['at-least'] !== undefined && 'once',
    ] as const
  ).filter((kind) => typeof kind === 'string')
  if (kinds.length > 1)
    throw new UsageError('--read, --fair, --fenced, --permits and --at-least exclude each other')
  const kind = kinds[0] ?? 'lock'
  if (kind === 'once' && (values.wait !== undefined || values.lease !== undefined))
    throw new UsageError('--at-least tries once and sets the lease: it excludes --wait and --lease')
  const permits = Number(values.permits ?? 1)
  if (!Number.isSafeInteger(permits) || permits < 1 || permits >= 2 ** 31)
    throw new UsageError('--permits takes a whole number from 1 to 2147483647')
  const time = (option: 'wait' | 'lease' | 'max-hold' | 'at-least' | 'grace') => {
    const given = values[option]
    return given === undefined ? undefined : parseTime(option, given)
  }
  const leaseTime = time('lease')
  if (leaseTime === 0) throw new UsageError('--lease must be longer than 0')
  const maxHoldTime = time('max-hold')
  if (maxHoldTime === 0) throw new UsageError('--max-hold must be longer than 0')
  if (leaseTime !== undefined && maxHoldTime !== undefined)
    throw new UsageError('--lease and --max-hold exclude each other: a lease is not renewed')
  const atLeast = time('at-least') ?? 1
  if (atLeast === 0) throw new UsageError('--at-least must be longer than 0')
  if (kind === 'once' && maxHoldTime !== undefined && maxHoldTime < atLeast)
    throw new UsageError('--max-hold must be at least as long as --at-least')
  const grace = time('grace') ?? GRACE
  return { name, kind, waitTime: time('wait'), leaseTime, maxHoldTime, permits, atLeast, grace }
}

export interface Result {
  readonly ended: Ended
  readonly lost: boolean
  /** Why the release was not answered. The lock is then free when its lease ends, at the latest. */
  readonly unanswered?: Error
}

/** Runs `work` while it holds what was wanted; undefined if that was not acquired in time. Rejects when `waiting` aborts. */
export async function holdOf(
  client: Redisson,
  wanted: Taking,
  waiting: AbortSignal,
  work: (held: Held) => Promise<Ended>,
): Promise<Result | undefined> {
  if (wanted.kind === 'once') return await once(client, wanted, work)
  const held = await acquire(client, wanted, waiting)
  if (!held) return undefined
  const ended = await work(held).catch(async (error) => {
    await held.release().catch(() => {})
    throw error
  })
  let lost = held.signal.aborted
  try {
    await held.release()
  } catch (error) {
    if (!(error instanceof LockLostError || error instanceof PermitNotHeldError))
      return { ended, lost, unanswered: error as Error }
    lost = true
  }
  return { ended, lost }
}

async function once(
  client: Redisson,
  { name, atLeast, maxHoldTime }: Taking,
  work: (held: Held) => Promise<Ended>,
): Promise<Result | undefined> {
  let result: Result | undefined
  try {
    await client.runOnce(
      name,
      async ({ signal }) => {
        const ended = await work({ signal })
        result = { ended, lost: signal.aborted }
      },
      { atLeast, maxHoldTime },
    )
  } catch (error) {
    if (!result || !(error instanceof LockLostError)) throw error
    return { ...result, lost: true }
  }
  return result
}

async function acquire(
  client: Redisson,
  { name, kind, waitTime, leaseTime, maxHoldTime, permits }: Taking,
  signal: AbortSignal,
): Promise<(Held & { release(): Promise<void> }) | undefined> {
  const limits = { leaseTime, maxHoldTime, signal }
  const options = { waitTime, ...limits }
  if (kind === 'permits') {
    const semaphore = client.getPermitExpirableSemaphore(name)
    await semaphore.trySetPermits(permits)
    const permit =
      waitTime === undefined
        ? await semaphore.acquirePermit(limits)
        : await semaphore.tryAcquirePermit(options)
    return permit && { signal: permit.signal, release: () => permit.release() }
  }
  if (kind === 'fenced') {
    const lock = client.getFencedLock(name)
    const hold = waitTime === undefined ? await lock.acquire(limits) : await lock.tryAcquire(options)
    return hold && { signal: hold.signal, token: hold.token, release: () => hold.unlock() }
  }
  const lock: RLock =
    kind === 'read'
      ? client.getReadWriteLock(name).readLock()
      : kind === 'fair'
        ? client.getFairLock(name)
        : client.getLock(name)
  const hold = waitTime === undefined ? await lock.acquire(limits) : await lock.tryAcquire(options)
  return hold && { signal: hold.signal, release: () => hold.unlock() }
}
