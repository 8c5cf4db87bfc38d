import type { Redis } from 'ioredis'
import type { Clock } from '../../util/clock'
import { classify } from '../errors'
import type { BrokenConnection, BrokenConnections } from './broken-connections'

const RETRY_AFTER = 250

/** What a server calls a connection, and itself: ids begin anew with each run of it. */
interface Identity {
  id?: number
  runId?: string
}

interface PendingFence {
  readonly broken: BrokenConnection
  readonly id: number
  readonly runId: string
}

/**
 * Makes sure that what a broken connection carried arrives no later.
 *
 * A command that was in flight when its connection broke may still be held up in a network, a proxy or a buffer, and
 * arrive after anything that is sent later. So the id of each connection is asked for, and the next connection to the
 * same run of the same server kills the one that broke (`CLIENT KILL ID`). After that answer the old commands
 * have been executed or never will be. A connection of an unknown id, one to a server that runs anew or is another
 * one, and one that the user may not kill stay unfenced.
 *
 * The connections must resend nothing by themselves, these commands included (`maxRetriesPerRequest: 0`): a kill
 * that reached another server would hit a stranger.
 */
export class ConnectionFence {
  private readonly pending = new Set<PendingFence>()
  private closed = false

  constructor(
    /** Where the connections lead to; see BrokenConnection. */
    private readonly server: string,
    private readonly broken: BrokenConnections,
    private readonly clock: Clock,
  ) {}

  get isPending(): boolean {
    return this.pending.size > 0
  }

  /** Sees to each connection that this client opens, now and when it reconnects. */
  watch(redis: Redis): void {
    let identity: Identity = {}
    let identified: Promise<void> = Promise.resolve()
    redis.on('connect', () => {
      const own: Identity = {}
      const { stream } = redis
      identity = own
      // A server that became a replica refuses all that is in flight, and ioredis adds a listener for each.
      stream.setMaxListeners(0)
      // Within the handshake, so that it is answered before any command of ours is sent.
      identified = this.identify(redis, own, () => redis.stream === stream && !stream.destroyed)
      // Before ioredis rejects what was unanswered: the callers that it notifies read this state.
      redis.stream.prependOnceListener('close', () => this.ended(redis, own))
    })
    redis.on('ready', () => {
      if (!this.isPending) return
      const { stream } = redis
      const own = identity
      const isSame = () => redis.stream === stream && redis.status === 'ready'
      void identified.then(() => this.fenceAll(redis, own, isSame))
    })
  }

  /** No connection to this server is expected any more: what is pending stays unfenced. */
  giveUp(): void {
    for (const fence of [...this.pending]) this.settle(fence, 'unfenced')
  }

  close(): void {
    this.closed = true
    this.giveUp()
  }

  private ended(redis: Redis, { id, runId }: Identity) {
    // One that never became ready carried nothing.
    if (redis.status !== 'ready') return
    if (unanswered(redis) === 0) this.broken.add(this.server, 'fenced')
    else if (this.closed || id === undefined || runId === undefined) this.broken.add(this.server, 'unfenced')
    else this.pending.add({ broken: this.broken.add(this.server, 'pending'), id, runId })
  }

  /** A server that is busy or loading is asked again: what is to be fenced waits for the answer. */
  private async identify(redis: Redis, identity: Identity, isSame: () => boolean): Promise<void> {
    while (isSame() && !this.closed) {
      try {
        const [id, info] = await Promise.all([redis.client('ID'), redis.info('server')])
        const runId = /^run_id:(\w+)/m.exec(info)?.[1]
        if (runId !== undefined) Object.assign(identity, { id: Number(id), runId })
        return
      } catch (error) {
        // It may not ask, or is gone already.
        if (classify(error) !== 'transient') return
        await new Promise<void>((resolve) => this.clock.after(RETRY_AFTER, resolve))
      }
    }
  }

  private fenceAll(redis: Redis, { runId }: Identity, isSame: () => boolean) {
    for (const fence of [...this.pending]) {
      if (!isSame()) return
      if (runId === fence.runId) this.kill(redis, fence, isSame)
      else this.settle(fence, 'unfenced')
    }
  }

  private kill(redis: Redis, fence: PendingFence, isSame: () => boolean) {
    redis.client('KILL', 'ID', fence.id).then(
      // How many it killed does not matter: 0 means that the server has closed it already.
      () => this.settle(fence, 'fenced'),
      (error) => {
        const kind = classify(error)
        if (kind === 'connection') return
        if (kind !== 'transient') return this.settle(fence, 'unfenced')
        this.clock.after(RETRY_AFTER, () => {
          if (isSame() && this.pending.has(fence)) this.kill(redis, fence, isSame)
        })
      },
    )
  }

  private settle(fence: PendingFence, state: 'fenced' | 'unfenced') {
    this.pending.delete(fence)
    fence.broken.settle(state)
  }
}

/** How many commands the server has not answered; ioredis does not tell otherwise. */
function unanswered(redis: Redis): number {
  return (redis as unknown as { commandQueue?: { length: number } }).commandQueue?.length ?? 1
}
