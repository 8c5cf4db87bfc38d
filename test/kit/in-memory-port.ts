import { createServer, type Socket } from 'node:net'
import { type Reply, Status } from '../../packages/testing/src/data/keyspace'
import { serverOf } from '../../packages/testing/src/in-memory-redis'
import type { InMemoryRedis } from '../../packages/testing/src/index'
import type { InMemoryServer, Peer } from '../../packages/testing/src/server'
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
  const server = serverOf(redis)
  await server.engine.load()
  const sockets = new Set<Socket>()
  const listener = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    new Session(server, socket)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  listener.unref()
  const { port } = listener.address() as { port: number }
  return {
    redis,
    host: '127.0.0.1',
    port,
    url: `redis://127.0.0.1:${port}`,
    close() {
      listener.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** One connection. Words, replies and messages have a character for each byte. */
class Session implements Peer {
  readonly subscribed = new Map<string, (message: string) => void>()
  private readonly frames = new RespFrames()
  private transaction: string[][] | undefined

  constructor(
    private readonly server: InMemoryServer,
    private readonly socket: Socket,
  ) {
    socket.on('data', (chunk) => {
      for (const frame of this.frames.push(chunk)) this.answer(wordsOf(frame, 'latin1'))
    })
    socket.on('error', () => {})
    socket.on('close', () => server.links.delete(this))
  }

  cut(): void {
    this.socket.destroy()
  }

  // Commands are executed when they come in, so nothing is under way.
  answered(): void {}
  reconnected(): void {}

  private answer(words: string[]) {
    const name = words[0]!.toLowerCase()
    if (name === 'subscribe') this.subscribe(words.slice(1))
    else if (name === 'unsubscribe') this.unsubscribe(words.slice(1))
    else if (name === 'exec') this.execute()
    else if (this.transaction) {
      this.transaction.push(words)
      this.send('+QUEUED\r\n')
    } else {
      if (name === 'multi') this.transaction = []
      this.send(this.run(words))
    }
  }

  private execute() {
    const replies = this.transaction!.map((each) => this.run(each))
    this.transaction = undefined
    const unknown = replies.find((reply) => reply.startsWith('-ERR unknown command'))
    if (unknown) this.send(`-EXECABORT ${unknown.slice(1)}`)
    else this.send(`*${replies.length}\r\n${replies.join('')}`)
  }

  private run([name = '', ...args]: string[]): string {
    try {
      return encoded(this.reply(name.toLowerCase(), args))
    } catch (error) {
      return `-${(error as Error).message}\r\n`
    }
  }

  private reply(name: string, args: string[]): Reply {
    if (name === 'info' && args[0]?.toLowerCase() === 'commandstats')
      return `cmdstat_evalsha:calls=${this.server.engine.scriptCalls}\r\n`
    if (name === 'info') return 'redis_version:7.0.0\r\nredis_mode:standalone\r\nloading:0\r\n'
    if (name === 'multi' || (name === 'client' && /^set/i.test(args[0]!))) return new Status('OK')
    if (name === 'client' && args.join(' ').toLowerCase() === 'kill type pubsub') {
      const { links } = this.server
      for (const link of [...links]) link.cut()
      return links.size
    }
    return this.server.engine.callBytes(name, args)
  }

  private subscribe(channels: string[]) {
    this.server.links.add(this)
    for (const channel of channels) {
      this.subscribed.set(channel, (message) => this.send(encoded(['message', channel, message])))
      this.send(encoded(['subscribe', channel, this.subscribed.size]))
    }
  }

  private unsubscribe(channels: string[]) {
    for (const channel of channels) {
      this.subscribed.delete(channel)
      this.send(encoded(['unsubscribe', channel, this.subscribed.size]))
    }
  }

  private send(bytes: string) {
    this.socket.write(bytes, 'latin1')
  }
}

function encoded(reply: Reply): string {
  if (typeof reply === 'number') return `:${reply}\r\n`
  if (typeof reply === 'string') return `$${reply.length}\r\n${reply}\r\n`
  if (reply instanceof Status) return `+${reply.text}\r\n`
  if (reply === null) return '$-1\r\n'
  return `*${reply.length}\r\n${reply.map(encoded).join('')}`
}
