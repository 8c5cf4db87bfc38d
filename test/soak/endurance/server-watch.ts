import { Redis } from 'ioredis'
import { info } from '../../kit/servers/with-client'
import { type Answers, KEPT, type RenewalsSeen, type ServerView } from './messages'

const STAYS = [KEPT, 'rlock_requests:', 'redisson_lock_token:']

/** Looks at the server by a connection of its own. */
export class ServerWatch {
  private readonly redis: Redis
  private renewalsSince = { cpu: 0, at: 0 }
  private commandsAsked = 0

  constructor(url: string) {
    this.redis = new Redis(url, { replyMapping: 'legacy' })
  }

  readonly answers: Answers = {
    view: () => this.view(),
    commands: () => this.commands(),
    renewalsFrom: () => this.renewalsFrom(),
    renewals: () => this.renewals(),
  }

  async version(): Promise<string> {
    const server = await info(this.redis, 'server')
    const valkey = server.get('valkey_version')
    return valkey ? `Valkey ${valkey}` : `Redis ${server.get('redis_version')}`
  }

  close(): void {
    this.redis.disconnect()
  }

  private async view(): Promise<ServerView> {
    const clients = (await this.redis.client('LIST')) as string
    return {
      keys: await this.keys(),
      channels: ((await this.redis.pubsub('CHANNELS', 'redisson_*')) as string[]).length,
      connections: clients.trim().split('\n').length - 1,
    }
  }

  /** Other than what stays by design: fences, counts, and for a minute the records of requests. */
  private async keys(): Promise<number> {
    let [cursor, keys] = ['0', 0]
    do {
      const [next, found] = await this.redis.scan(cursor, 'COUNT', 1_000)
      keys += found.filter((key) => !STAYS.some((prefix) => key.startsWith(prefix))).length
      cursor = next
    } while (cursor !== '0')
    return keys
  }

  /** Commands so far, other than those by which that is asked. */
  private async commands(): Promise<number> {
    const stats = await info(this.redis, 'stats')
    return Number(stats.get('total_commands_processed')) - this.commandsAsked++
  }

  private async renewalsFrom(): Promise<null> {
    await this.redis.config('RESETSTAT')
    this.renewalsSince = { cpu: await this.cpu(), at: performance.now() }
    return null
  }

  private async renewals(): Promise<RenewalsSeen> {
    const commands = await info(this.redis, 'commandstats')
    const ms = performance.now() - this.renewalsSince.at
    const cpu = ((await this.cpu()) - this.renewalsSince.cpu) / (ms / 1_000)
    return {
      scripts: callsOf(commands.get('cmdstat_evalsha')),
      // By which the renewal of a lock begins.
      renewals: callsOf(commands.get('cmdstat_hexists')),
      cpu,
      ...(await this.leases()),
    }
  }

  private async leases(): Promise<Pick<RenewalsSeen, 'leastLeft' | 'keys'>> {
    let [cursor, keys, leastLeft] = ['0', 0, Number.POSITIVE_INFINITY]
    do {
      const [next, found] = await this.redis.scan(cursor, 'COUNT', 1_000)
      const times = await this.redis.pipeline(found.map((key) => ['pttl', key])).exec()
      for (const [, time] of times ?? []) leastLeft = Math.min(leastLeft, time as number)
      keys += found.length
      cursor = next
    } while (cursor !== '0')
    return { keys, leastLeft }
  }

  private async cpu(): Promise<number> {
    const cpu = await info(this.redis, 'cpu')
    return Number(cpu.get('used_cpu_user')) + Number(cpu.get('used_cpu_sys'))
  }
}

/** `calls=5,usec=…` of the statistics of a command. */
const callsOf = (statistics: string | undefined) => Number(/^calls=(\d+)/.exec(statistics ?? '')?.[1] ?? 0)
