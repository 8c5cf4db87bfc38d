import { createServer, type Socket } from 'node:net'
import { IN_PROCESS_SERVER } from '../../src/api/redis-source'
import type { Connections, Server } from '../../src/client/connections'
import { OutageReporter } from '../../src/redis/outage-reporter'
import type { ChannelEvents } from '../../src/redis/subscriber'
import type { InMemoryRedis } from '../../src/testing/index'
import { systemClock } from '../../src/util/clock'
import { RespFrames, wordsOf } from './servers/resp-frames'

/** A port at which an in-memory server answers ioredis, for tests that look at its keys or come by a proxy. */
export interface InMemoryPort {
  readonly redis: InMemoryRedis
  readonly host: string
  readonly port: number
  readonly url: string
  close(): void
}

export async function openPort(redis: InMemoryRedis): Promise<InMemoryPort> {
  const sockets = new Set<Session>()
  const listener = createServer((socket) => {
    const session = new Session(redis, socket, () => sockets)
    sockets.add(session)
    socket.on('close', () => sockets.delete(session))
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  // Scripts run once a client has connected.
  const first = await openConnections(redis)
  first.close()
  const { port } = listener.address() as { port: number }
  return {
    redis,
    host: '127.0.0.1',
    port,
    url: `redis://127.0.0.1:${port}`,
    close() {
      listener.close()
      for (const session of sockets) session.end()
    },
  }
}

class Session {
  private readonly frames = new RespFrames()
  private transaction: string[][] | undefined
  private subscriber: Promise<Connections> | undefined
  private readonly subscribed = new Set<string>()

  constructor(
    private readonly redis: InMemoryRedis,
    private readonly socket: Socket,
    private readonly all: () => Set<Session>,
  ) {
    socket.on('data', (chunk) => {
      for (const frame of this.frames.push(chunk)) void this.answer(wordsOf(frame))
    })
    socket.on('error', () => {})
    socket.on('close', () => void this.subscriber?.then((connections) => connections.close()))
  }

  end(): void {
    this.socket.destroy()
  }

  private async answer(words: string[]) {
    const name = words[0]!.toLowerCase()
    if (name === 'subscribe') return await this.subscribe(words.slice(1))
    if (name === 'unsubscribe') return await this.unsubscribe(words.slice(1))
    if (name === 'multi') this.transaction = []
    else if (name === 'exec') {
      const replies = this.transaction!.map((each) => this.run(each))
      this.transaction = undefined
      return this.socket.write(`*${replies.length}\r\n${replies.join('')}`)
    } else if (this.transaction) {
      this.transaction.push(words)
      return this.socket.write('+QUEUED\r\n')
    }
    this.socket.write(this.run(words))
  }

  private run([name = '', ...args]: string[]): string {
    try {
      return encoded(this.reply(name.toLowerCase(), args))
    } catch (error) {
      return `-${(error as Error).message}\r\n`
    }
  }

  private reply(name: string, args: string[]): unknown {
    if (name === 'info') return 'redis_version:7.0.0\r\nredis_mode:standalone\r\nloading:0\r\n'
    if (name === 'multi' || (name === 'client' && /^set/i.test(args[0]!))) return 'OK'
    if (name === 'client' && args.join(' ').toLowerCase() === 'kill type pubsub') {
      this.redis.cut()
      for (const session of this.all()) if (session.subscriber) session.end()
      return 1
    }
    return this.redis.call(name, ...args)
  }

  private async subscribe(channels: string[]) {
    this.subscriber ??= openConnections(this.redis, {
      message: (channel, text) => void this.socket.write(encoded(['message', channel, text])),
      confirmed: (channel) => void this.socket.write(encoded(['subscribe', channel, this.subscribed.size])),
    })
    const { source } = await this.subscriber
    for (const channel of channels) {
      this.subscribed.add(channel)
      source.want(channel)
    }
  }

  private async unsubscribe(channels: string[]) {
    const connections = await this.subscriber
    for (const channel of channels) {
      this.subscribed.delete(channel)
      connections?.source.drop(channel)
      this.socket.write(encoded(['unsubscribe', channel, this.subscribed.size]))
    }
  }
}

const none = () => {}

function openConnections(redis: InMemoryRedis, channels: Partial<ChannelEvents> = {}): Promise<Connections> {
  const server = redis[IN_PROCESS_SERVER] as Server
  return server.connect({
    clock: systemClock,
    outages: new OutageReporter(systemClock, none),
    channels: { message: none, confirmed: none, broken: none, error: none, ...channels },
    error: none,
    newServer: none,
    keysChanged: none,
    replicasCutOff: none,
  })
}

function encoded(reply: unknown): string {
  if (typeof reply === 'number') return `:${reply}\r\n`
  if (typeof reply === 'string') return `$${Buffer.byteLength(reply)}\r\n${reply}\r\n`
  if (Array.isArray(reply)) return `*${reply.length}\r\n${reply.map(encoded).join('')}`
  return '$-1\r\n'
}
