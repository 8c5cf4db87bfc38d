import { createHash } from 'node:crypto'
import { Redis } from 'ioredis'
import type { JavaPort } from './port'

/** The model on a real server, by two connections. */
export class IoredisPort implements JavaPort {
  private readonly commands: Redis
  private readonly subscriber: Redis
  private readonly listeners = new Map<string, (message: string) => void>()

  constructor(url: string) {
    this.commands = new Redis(url)
    this.subscriber = new Redis(url)
    this.subscriber.on('message', (channel: string, message: string) =>
      this.listeners.get(channel)?.(message),
    )
  }

  async run(script: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const sha = createHash('sha1').update(script).digest('hex')
    const all = [...keys, ...args]
    return await this.commands.evalsha(sha, keys.length, ...all).catch((error: Error) => {
      if (!error.message.startsWith('NOSCRIPT')) throw error
      return this.commands.eval(script, keys.length, ...all)
    })
  }

  async subscribe(channel: string, listener: (message: string) => void): Promise<void> {
    this.listeners.set(channel, listener)
    await this.subscriber.subscribe(channel)
  }

  async unsubscribe(channel: string): Promise<void> {
    this.listeners.delete(channel)
    await this.subscriber.unsubscribe(channel)
  }

  now(): number {
    return Date.now()
  }

  after(ms: number, callback: () => void): { cancel(): void } {
    const timer = setTimeout(callback, ms)
    return { cancel: () => clearTimeout(timer) }
  }

  random(): number {
    return Math.random()
  }

  close(): void {
    this.commands.disconnect()
    this.subscriber.disconnect()
  }
}
