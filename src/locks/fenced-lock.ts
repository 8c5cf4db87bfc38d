import { lockArguments, tryLockArguments } from '../api/arguments'
import type { LockOptions, TryLockOptions } from '../api/call-options'
import { RedisRefusedError, RedissonError } from '../api/errors'
import type { LockHold } from '../api/lock-hold'
import type { TimeUnit } from '../api/time-unit'
import type { Client } from '../client/client'
import { LockHandle } from '../engine/lock-handle'
import { ACQUIRE_FOR } from '../engine/lock-internals'
import type { ReenterReply } from '../engine/lock-kind'
import { acquireLevel } from '../engine/owned-lock'
import { ReentrantLock } from '../engine/reentrant-lock'
import type { RLock } from '../engine/rlock'
import { prefixed } from '../scripts/key-names'
import { script } from '../scripts/script'
import type { ScriptCall } from '../scripts/script-call'
import { perObject } from '../util/per-object'
import { quote } from '../util/quote'
import { blocked, type Outcome } from '../waiting/attempt'
import { HashLockKind } from './hash-lock-kind'

/** An acquisition of a fenced lock, as an object. */
export interface FencedLockHold extends LockHold {
  /**
   * The newest token of this hold's owner: the token of this acquisition or, after a re-entry, the token of
   * the re-entry. A resource should accept a write with a greater token than the last one it saw, and an
   * equal token only from the same holder.
   */
  readonly token: number
}

/**
 * Redisson's RFencedLock: an RLock that numbers its grants, so that a resource can refuse a holder that was
 * overtaken.
 *
 * Every acquisition draws a token, a re-entry too. A later token is always greater, and gaps are normal.
 * Tokens are numbers; after 2⁵³ − 1, acquisitions reject with RangeError. The counter has its own key for
 * each name, and the key never expires. If the counter is lost or set back (FLUSHALL, eviction, a failover,
 * an old dump), a client that knows a greater token sets it forward, and raises the event `error` with a
 * FencingTokenError: clients that know no token may have drawn old ones again. Use `noeviction`.
 *
 * **Different from Java.** `tryLockAndGetToken()` without a wait is one try (Java's waits for ever), and
 * `lockAndGetToken(leaseTime, unit)` keeps its lease (Java's synchronous method ignores it). It is the same
 * lock as `getLock` of that name. `getLock` draws no tokens, so use one kind for one name.
 *
 * @example
 * ```ts
 * await redisson.getFencedLock('order:42:fenced').withLock(({ token }) => save(order, token))
 * ```
 */
export interface RFencedLock extends RLock<FencedLockHold> {
  /**
   * The newest token that any owner has drawn; 0 before the first one. It may belong to another owner, so do
   * not send it to a resource. Use `hold.token`, or the result of `lockAndGetToken`.
   */
  getToken(): Promise<number>

  /** `lock()`; resolves with the token that the acquisition drew. */
  lockAndGetToken(): Promise<number>
  /** The same with a lease, in ms unless a unit follows. */
  lockAndGetToken(leaseTime: number, unit?: TimeUnit): Promise<number>
  /** The same with options. */
  lockAndGetToken(options: LockOptions): Promise<number>

  /** `tryLock()`: one try; resolves with the token, or with undefined when the lock was not acquired. */
  tryLockAndGetToken(): Promise<number | undefined>
  /** Waits for at most `waitTime`. */
  tryLockAndGetToken(waitTime: number, unit?: TimeUnit): Promise<number | undefined>
  /** Waits for at most `waitTime`, and holds for at most `leaseTime`. One unit for both. */
  tryLockAndGetToken(waitTime: number, leaseTime: number, unit?: TimeUnit): Promise<number | undefined>
  /** The same with options. */
  tryLockAndGetToken(options: TryLockOptions): Promise<number | undefined>
}

/**
 * The counter of a fenced lock was behind a token that this client saw: it was lost or set back. The client
 * raises the event `error` with it, the counter goes on above that token, and the acquisition succeeds.
 * Before that, other clients may have drawn tokens a second time, and the resource refuses these.
 */
export class FencingTokenError extends RedissonError {
  override readonly name = 'FencingTokenError'
  override readonly code = 'FENCING_TOKEN'

  constructor(
    message: string,
    /** The lock's name. */
    readonly lockName: string,
    /** The token that was drawn. */
    readonly token: number,
    /** The token that this client saw before. */
    readonly lastToken: number,
  ) {
    super(message)
  }
}

const ACQUIRE = script('fenced-lock/acquire', decodeAcquire)
const REENTER = script('fenced-lock/reenter', decodeReenter)
const TOKEN = script('fenced-lock/token', Number)

/** What a draw answers; `before`: the counter, where it was behind the greatest token that the client saw. */
interface Draw {
  readonly grant: number
  readonly before?: number
}

function decodeDraw([token, before]: readonly string[]): Draw {
  return { grant: Number(token), ...(before !== undefined && { before: Number(before) }) }
}

/** An array of a draw: acquired. A number: the remaining time to live in ms, -1 without expiry. */
function decodeAcquire(raw: unknown): Outcome<number> & Partial<Draw> {
  return Array.isArray(raw) ? { granted: true, ...decodeDraw(raw) } : blocked(Number(raw))
}

/** An array of the lease end and a draw. 0: the hold is gone. */
function decodeReenter(raw: unknown): ReenterReply & Draw {
  const [leaseEnd, ...draw] = raw === 0 ? [0, '0'] : (raw as [number, ...string[]])
  return { leaseEnd, ...decodeDraw(draw) }
}

/** How many names a client keeps the last token of. */
const MOST_NAMES = 1_000

interface LastToken {
  readonly token: number
  readonly owner: string
}

/** The greatest token that a client saw of each name, for the names that it acquired most recently. */
const lastTokensOf = perObject((_: Client) => new Map<string, LastToken>())

class FencedLockKind extends HashLockKind {
  override readonly kind = 'fenced'
  private readonly keysWithToken: readonly string[] = [this.key, tokenKey(this.key)]

  override acquire(owner: string, lease: number): ScriptCall<Outcome<number>> {
    const call = this.client.scripts.run(ACQUIRE, this.keysWithToken, [owner, lease, this.seen], true)
    call.whenAnswered(({ value }) => value.granted && this.see(value, owner))
    return call
  }

  override reenter(owner: string, lease: number, count: number, releasedEnd: number) {
    const last = lastTokensOf(this.client).get(this.key)
    const args = [owner, lease, count, releasedEnd, last?.owner === owner ? last.token : -1, this.seen]
    const call = this.client.scripts.run(REENTER, this.keysWithToken, args, true)
    call.whenAnswered(({ value }) => value.leaseEnd !== 0 && this.see(value, owner))
    return call
  }

  /** The greatest token of this name that the client saw. A new primary may have forgotten it. */
  private get seen(): number {
    return lastTokensOf(this.client).get(this.key)?.token ?? 0
  }

  /** Keeps a token, and reports a counter that was behind the tokens that this client saw. */
  private see({ grant: token, before }: Draw, owner: string) {
    const { client, name, key } = this
    const lastTokens = lastTokensOf(client)
    const last = lastTokens.get(key)
    // It may have been drawn before the greater one, and answered after it.
    if (last && token < last.token) return
    lastTokens.delete(key)
    lastTokens.set(key, { token, owner })
    if (lastTokens.size > MOST_NAMES) lastTokens.delete(lastTokens.keys().next().value!)
    if (before === undefined) return
    client.events.error(
      new FencingTokenError(
        `The counter ${quote(tokenKey(key))} of the fenced lock ${quote(name)} was lost or set back to ` +
          `${before}, and this client saw the token ${last?.token ?? token - 1} (client ` +
          `${client.clientId}). It goes on with ${token}. Other clients may have drawn tokens a second ` +
          'time, and resources refuse these. Do not let Redis evict the counter.',
        name,
        token,
        last?.token ?? token - 1,
      ),
    )
  }
}

/** The key of the counter from which a fenced lock draws its tokens. */
function tokenKey(key: string): string {
  return prefixed('redisson_lock_token', key)
}

class FencedHandle extends LockHandle implements FencedLockHold {
  get token(): number {
    // A hold table keeps holds of all kinds of locks. Each acquisition of this kind sets the token of its
    // owner.
    return this.level.hold.grant as number
  }
}

/** See the interface. */
export class FencedLock extends ReentrantLock<FencedHandle> implements RFencedLock {
  private readonly tokenKey = tokenKey(this.kind.key)

  constructor(client: Client, name: string, key: string) {
    super(client, new FencedLockKind(name, key, client), FencedHandle)
  }

  async getToken(): Promise<number> {
    return (await this.client.scripts.run(TOKEN, [this.tokenKey], []).answer).value
  }

  async lockAndGetToken(first?: number | LockOptions, unit?: TimeUnit): Promise<number> {
    return (await acquireLevel(this, lockArguments(first, unit), true))!.hold.grant as number
  }

  async tryLockAndGetToken(...args: Parameters<typeof tryLockArguments>): Promise<number | undefined> {
    return (await acquireLevel(this, tryLockArguments(...args), true))?.hold.grant as number | undefined
  }

  override async [ACQUIRE_FOR](...args: Parameters<ReentrantLock<FencedHandle>[typeof ACQUIRE_FOR]>) {
    try {
      return await super[ACQUIRE_FOR](...args)
    } catch (error) {
      // The script's error says that the counter is used up. The caller's error says what that means.
      const key = this.tokenKey
      if (!(error instanceof RedisRefusedError) || !error.reply?.includes(`${key} is used up`)) throw error
      throw new RangeError(
        `The fenced lock ${quote(this.getName())} has no token left: its counter ${quote(key)} has reached ` +
          `2⁵³ − 1 (client ${this.client.clientId}). Nothing was acquired.`,
        { cause: error },
      )
    }
  }
}
