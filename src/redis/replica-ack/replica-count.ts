import type { Redis } from 'ioredis'
import type { Moment } from '../../util/clock'
import { isCommandRefused } from '../reply/errors'
import { type OnlineReplica, onlineReplicas, readServerInfo } from '../reply/info'
import type { ConnectedClient } from '../reports/connected-client'
import type { OutageReporter } from '../reports/outage-reporter'

/** How long a count of the replicas is valid, in ms. */
const KNOWN_FOR = 1_000
/**
 * A replica reports every second. If its last report is older than this, in s, the client waits for the
 * others only.
 */
const KEEPS_UP = 1
/**
 * How long the client does not wait again for replicas that missed a WAIT while others answered it, in ms.
 */
const LAGGING_FOR = 10_000
/**
 * For how long a primary that has lost a replica is not believed, in ms: the replica may have been promoted.
 * In a failover Sentinel asks the replicas once a second, and it names the new primary after three answers at
 * the latest: one is a primary, another one replicates it, and is up to date. The fourth second is for the
 * client.
 */
const NOT_BELIEVED_FOR = 4_000
/** How long a count is valid in that time, in ms. */
const KNOWN_IN_DOUBT_FOR = 200

/**
 * The replicas of one primary: how many must acknowledge, whether one has left, and how far they have read.
 */
export class ReplicaCount {
  /** How many replicas to wait for. One acknowledgement is enough. */
  awaited = 0
  /** The server had an online replica at some count. */
  hadReplicas = false
  /** The server said at the last count that it is a primary. */
  isPrimary = true
  /** When that was found out, and how long it is valid, in ms. */
  private counted: Moment | undefined
  private validFor = KNOWN_FOR
  /** How many online replicas there were at the last count. */
  private online = 0
  /** How many there must be for the primary to be believed. While it is in doubt: as many as before that. */
  private expected = 0
  /** When a count found fewer replicas than the one before. */
  private lostReplica: Moment | undefined
  /** The server of these counts. */
  server: string | undefined
  /** The offset of the server at some count: it had answered nothing `by` then that comes after it. */
  private written: { readonly by: Moment; readonly offset: number } | undefined

  constructor(
    private readonly redis: Redis,
    /** Identifies the server of the connection. */
    readonly idOfServer: () => string,
    private readonly client: Pick<ConnectedClient, 'clock' | 'replicasCutOff' | 'replicated'>,
    /** Receives the error that the server has no WAIT, or that this user may not use WAIT or INFO. */
    private readonly refusals: OutageReporter,
  ) {}

  /** Whether the count is valid. */
  get isKnown(): boolean {
    return this.age <= this.validFor
  }

  /** How old the count is, in ms. */
  get age(): number {
    return this.counted ? this.client.clock.elapsedSince(this.counted) : Number.POSITIVE_INFINITY
  }

  /** The next connection may reach another server. */
  forget(): void {
    this.counted = undefined
  }

  /** The primary has just lost a replica, which may have been promoted. What it grants now may be lost. */
  get isInDoubt(): boolean {
    return this.lostReplica !== undefined
  }

  /**
   * Decides how many replicas to wait for: all that keep up, so that any of them may become the primary. A
   * replica in its initial sync does not count, because it can neither acknowledge nor be promoted with data.
   * A replica that is online but has acknowledged nothing may still load its copy, for any time, or may have
   * come online a moment ago. It counts while its lag is short and no WAIT has failed to reach it.
   *
   * Resolves with whether all online replicas are loading their first copy of the data.
   */
  async count(askedInVain = false): Promise<boolean> {
    const asked = this.client.clock.now()
    try {
      const info = await this.redis.info('replication')
      const online = onlineReplicas(info)
      const counted = online.filter(
        ({ lag, hasAcknowledged }) => hasAcknowledged || (lag <= KEEPS_UP && !askedInVain),
      )
      const keepingUp = counted.filter(({ lag }) => lag <= KEEPS_UP)
      this.isPrimary = !readServerInfo(info).isReplica
      this.waitFor(Math.min(counted.length, Math.max(1, keepingUp.length)))
      this.compare(online.length)
      this.hadReplicas ||= online.length > 0
      if (online.length === 0) this.reached(asked)
      else this.follow(asked, Number(/^master_repl_offset:(\d+)/m.exec(info)?.[1]), keepingUp)
      return online.length > 0 && counted.length === 0
    } catch (error) {
      if (!this.isWithoutWait(error)) throw error
      return false
    }
  }

  /**
   * So many replicas have what was written by then. Resolves with whether that is an acknowledgement: where
   * they are fewer than were awaited, perhaps a replica has left.
   */
  async areEnough(replicas: number, by: Moment): Promise<boolean> {
    this.refusals.answered()
    if (replicas >= this.awaited) {
      this.reached(by)
      return true
    }
    const areLoading = await this.count(replicas === 0).catch(() => undefined)
    if (areLoading === undefined || this.isInDoubt) return false
    if (replicas > 0) this.waitFor(replicas, LAGGING_FOR)
    return replicas > 0 || areLoading
  }

  /**
   * Whether the server refuses WAIT or INFO, so that no acknowledgement is possible until the next count: the
   * right may be granted.
   */
  isWithoutWait(error: unknown): boolean {
    if (!isCommandRefused(error)) return false
    this.waitFor(0)
    this.refusals.failed(
      new Error(
        'The server has no WAIT, or refuses WAIT or INFO to this user. Acquisitions do not wait for ' +
          'replicas. Grant the user +wait +info.',
      ),
    )
    return true
  }

  private waitFor(replicas: number, validFor = KNOWN_FOR) {
    this.awaited = replicas
    this.counted = this.client.clock.now()
    this.validFor = validFor
  }

  /**
   * A primary that has lost a replica is not believed until it has as many again, or until the time is over.
   */
  private compare(online: number) {
    const { clock } = this.client
    const server = this.idOfServer()
    if (server !== this.server) {
      this.server = server
      this.online = this.expected = 0
      this.hadReplicas = false
      this.lostReplica = this.written = undefined
    }
    const isBack = online >= this.expected
    const isOver = this.lostReplica && clock.elapsedSince(this.lostReplica) >= NOT_BELIEVED_FOR
    if (!isBack && online < this.online) {
      this.lostReplica = clock.now()
      this.client.replicasCutOff()
    } else if (isBack || isOver) this.lostReplica = undefined
    this.online = online
    if (this.lostReplica) this.validFor = KNOWN_IN_DOUBT_FOR
    else this.expected = online
  }

  /** The replicas tell every second how far they are. */
  private follow(asked: Moment, offset: number, keepingUp: readonly OnlineReplica[]) {
    const { written } = this
    const haveIt =
      written && keepingUp.length > 0 && keepingUp.every((replica) => replica.offset >= written.offset)
    if (haveIt) this.reached(written.by)
    if (haveIt || !written) this.written = { by: asked, offset }
  }

  /** All replicas that keep up have what the server had answered by then. */
  private reached(by: Moment) {
    if (!this.isInDoubt) this.client.replicated(this.idOfServer(), by)
  }
}

/**
 * As if the primary had said so. The call is sent again until this primary is believed, or another one
 * answers.
 */
export const LOST_REPLICA = new Error(
  `NOREPLICAS the primary has lost a replica in the last ${NOT_BELIEVED_FOR / 1_000} s, and may be about ` +
    'to be replaced',
)
