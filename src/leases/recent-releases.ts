import type { Replication } from '../redis/replica-ack/connection'
import type { Clock, Moment, Timer } from '../util/clock'
import { getOrCreate } from '../util/get-or-create'
import { isSurelyOver, type Orphan, type OrphanReleaser } from './orphan-releaser'

/** How often the client looks for servers that were replaced, in ms, while it keeps releases. */
const LOOK_EVERY = 100
/** After this long, in ms, the client asks the server whether its replicas have the release. */
const ASK_AFTER = 250
/** How long a release is kept at most, in ms: longer than a failover takes. */
const KEPT_FOR = 60_000
/** The most releases that are kept of one server. */
const MOST = 1_000

interface Release {
  readonly key: string
  /** Sends it once more. Without its hold on the server that has no effect. */
  readonly orphan: Orphan
  readonly answered: Moment
}

/**
 * The releases that a replica may lack: a caller does not wait until a replica has its release. If another
 * server answers for the key of such a release, that server may have the hold still, and no other client
 * would release it. So the client sends the release to the new server as well.
 *
 * A release is kept until the replicas have it, until its server has none, until the lease has surely ended,
 * or for a minute.
 */
export class RecentReleases {
  private readonly servers = new Map<string, Release[]>()
  private timer: Timer | undefined
  private closed = false

  constructor(
    private readonly clock: Clock,
    private readonly orphans: OrphanReleaser,
    private readonly replication: Replication,
  ) {}

  /**
   * A release of this key is sent now. Returns a function that keeps it, for when it was answered; undefined:
   * its server has no replica.
   */
  sending(key: string): ((orphan: Orphan) => void) | undefined {
    const server = this.replication.primaryOf(key)
    if (server === undefined || !this.replication.mayLack(server)) return undefined
    return (orphan) => this.keep(server, key, orphan)
  }

  private keep(server: string, key: string, orphan: Orphan) {
    if (this.closed) return
    const releases = getOrCreate(this.servers, server, () => [])
    releases.push({ key, orphan, answered: this.clock.now() })
    if (releases.length > MOST) releases.shift()
    this.timer ??= this.clock.after(LOOK_EVERY, this.look)
  }

  /** The replicas of this server have all that it had answered by then. */
  replicated(server: string, by: Moment): void {
    const later = this.servers.get(server)?.filter(({ answered }) => answered.monotonic >= by.monotonic)
    if (later) this.servers.set(server, later)
  }

  close(): void {
    this.closed = true
    this.timer?.cancel()
    this.servers.clear()
  }

  private readonly look = () => {
    this.timer = undefined
    for (const [server, releases] of this.servers) {
      const kept: Release[] = []
      for (const release of releases) {
        if (this.replication.primaryOf(release.key) !== server)
          this.orphans.releaseNow(release.orphan, release.answered)
        else if (this.mayBeNeeded(release)) kept.push(release)
      }
      if (kept.length === 0) this.servers.delete(server)
      else {
        this.servers.set(server, kept)
        if (this.clock.elapsedSince(kept[0]!.answered) >= ASK_AFTER) this.replication.askReplicas(server)
      }
    }
    if (this.servers.size > 0) this.timer = this.clock.after(LOOK_EVERY, this.look)
  }

  private mayBeNeeded({ answered, orphan }: Release): boolean {
    const isOld = this.clock.now().monotonic - answered.monotonic >= KEPT_FOR
    return !isOld && !isSurelyOver(orphan, answered, this.clock)
  }
}
