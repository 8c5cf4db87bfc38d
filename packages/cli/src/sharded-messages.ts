import { type ClusterSubscriber, lockChannel, prefixed, readWriteLockChannel } from 'rlock/internal'
import { value } from './answers'
import type { Connection } from './connection'
import type { Row } from './model'

/** The names whose channels are kept after their lock is free: it may be taken again. */
const MOST_NAMES = 10_000
/** A channel that is heard for so long, in ms, was heard before the hold that ends now began to end. */
const SETTLED = 1_000

/**
 * The messages of releases where they are sharded. A sharded channel is heard by its full name only: there are no patterns, so
 * each name is learnt first, from its key.
 */
export class ShardedMessages {
  private readonly source: ClusterSubscriber
  /** By channel: since when the server has confirmed the subscription, without a break. */
  private readonly heardSince = new Map<string, number>()
  private readonly names = new Map<string, readonly string[]>()

  /** Undefined where messages are not sharded. */
  static open(connection: Connection, heard: (channel: string) => void): ShardedMessages | undefined {
    return connection.publish === 'spublish' ? new ShardedMessages(connection, heard) : undefined
  }

  private constructor(
    private readonly connection: Connection,
    heard: (channel: string) => void,
  ) {
    this.source = connection.shardedChannels({
      message: heard,
      confirmed: (channel) => this.heardSince.set(channel, Date.now()),
      broken: (channel) => this.heardSince.delete(channel),
      error: (error) => {
        if (!/^NOPERM/.test((error as Error).message)) return
        connection.unseen.add(
          'messages of releases: the right to SSUBSCRIBE to the channels of locks is missing',
        )
      },
    })
  }

  /** Listens for the end of this lock; of a name without a key, whatever lock it will be. */
  want(name: string, row: Row | undefined): void {
    const all = row === undefined ? [lockChannel(name), readWriteLockChannel(name)] : [channelOf(row)]
    const known = this.names.get(name) ?? []
    const channels = [...new Set([...known, ...all])]
    // The name moves to the end: the one that was seen longest ago goes first.
    this.names.delete(name)
    this.names.set(name, channels)
    for (const channel of channels) this.source.want(channel)
    if (this.names.size > MOST_NAMES) this.drop(this.names.keys().next().value!)
  }

  /** Whether a message about the end of this hold would have been heard by now. Waits for the messages on their way. */
  async heardAll(row: Row): Promise<boolean> {
    const channel = channelOf(row)
    const since = this.heardSince.get(channel)
    if (since === undefined || Date.now() - since < SETTLED) return false
    // Messages and answers arrive on one connection, in order.
    const redis = this.source.connectionOf(channel)?.redis
    if (redis?.status !== 'ready') return false
    try {
      await redis.ping()
    } catch {
      return false
    }
    if (this.heardSince.get(channel) !== since) return false
    // The release of a fair lock with a queue notifies its next waiter alone.
    const queue = prefixed('redisson_lock_queue', row.name)
    const [queued] = await this.connection.ask(this.connection.primaryOf(queue), [['exists', queue]])
    return value(queued) === 0
  }

  close(): void {
    this.source.close()
  }

  private drop(name: string) {
    for (const channel of this.names.get(name) ?? []) {
      this.source.drop(channel)
      this.heardSince.delete(channel)
    }
    this.names.delete(name)
  }
}

const channelOf = ({ name, mode }: Row) => (mode === null ? lockChannel(name) : readWriteLockChannel(name))
