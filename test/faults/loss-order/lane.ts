import { setTimeout as sleep } from 'node:timers/promises'
import { Redis, type RedisOptions } from 'ioredis'
import { type LockHold, Redisson, type RedissonOptions, RedisUnavailableError } from '../../../src/index'
import { startProxy, startStandalone } from '../../kit/servers/index'
import type { Standalone } from '../../kit/servers/standalone'
import type { TcpProxy } from '../../kit/servers/tcp-proxy'
import { Holder } from './holder'
import { machineNow } from './messages'

const LEASE = 30_000

/** Waits for locks on a connection that no fault touches. */
export class Contender {
  private constructor(
    private readonly redisson: Redisson,
    private readonly redis: Redis,
  ) {}

  static async connect(options: RedisOptions): Promise<Contender> {
    const redisson = await Redisson.create({ redis: options })
    redisson.on('error', () => {})
    const redis = new Redis({ ...options, replyMapping: 'legacy' })
    redis.on('error', () => {})
    return new Contender(redisson, redis)
  }

  /** Queues up for the lock. */
  join(name: string): Attempt {
    return new Attempt(this.redisson, this.redis, name)
  }

  async close(): Promise<void> {
    this.redis.disconnect()
    await this.redisson.shutdown({ timeout: 0 })
  }
}

/** One wait for one lock. */
export class Attempt {
  /** When Redis let it in, by its own clock: that of this machine. */
  letIn: number | undefined
  private readonly joined = machineNow()
  private readonly leaving = new AbortController()
  private readonly acquiring: Promise<LockHold | undefined>

  constructor(redisson: Redisson, redis: Redis, name: string) {
    this.acquiring = this.acquire(redisson, redis, name).catch((error) => {
      if (!this.leaving.signal.aborted) throw error
      return undefined
    })
  }

  private async acquire(redisson: Redisson, redis: Redis, name: string): Promise<LockHold> {
    const hold = await this.outwait(redisson, name)
    this.letIn = await this.readLetIn(redis, name)
    return hold
  }

  // After a failover this connection may still be with the old primary, and that knows the holder's lease.
  private async readLetIn(redis: Redis, name: string): Promise<number | undefined> {
    for (let tries = 0; tries < 50; tries++) {
      // Whole milliseconds there: rather a millisecond early than late.
      const letIn = Number(await redis.pexpiretime(name)) - LEASE - 1 + machineNow() - Date.now()
      if (letIn > this.joined) return letIn
      await sleep(100)
    }
    return undefined
  }

  /** A server away for ten seconds ends the wait; this one is patient. */
  private async outwait(redisson: Redisson, name: string): Promise<LockHold> {
    for (;;)
      try {
        return await redisson.getLock(name).acquire({ leaseTime: LEASE, signal: this.leaving.signal })
      } catch (error) {
        if (!(error instanceof RedisUnavailableError)) throw error
      }
  }

  /** Whether it got in by then. */
  async inside(timeout: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeout)
    })
    const hold = await Promise.race([this.acquiring, late])
    clearTimeout(timer)
    return hold !== undefined
  }

  async leave(): Promise<void> {
    this.leaving.abort()
    await (await this.acquiring)?.unlock().catch(() => {})
  }
}

/** What one round at a time happens on: a server, a process that holds, another client that waits. */
export interface Lane {
  readonly holder: Holder
  readonly contender: Contender
  /** How the holder reaches the server. */
  readonly redis: RedissonOptions['redis']
  stop(): Promise<void>
}

export interface StandaloneLane extends Lane {
  readonly server: Standalone
  /** Between the holder and the server. */
  readonly proxy: TcpProxy
}

export async function standaloneLane(): Promise<StandaloneLane> {
  const server = await startStandalone()
  const [proxy, holder, contender] = await Promise.all([
    startProxy(server),
    Holder.start(),
    Contender.connect({ host: server.host, port: server.port }),
  ])
  const stop = async () => {
    holder.kill()
    await contender.close()
    await proxy.stop()
    await server.stop()
  }
  return { server, proxy, holder, contender, redis: proxy.url, stop }
}
