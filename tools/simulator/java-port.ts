import { toReply } from '../../packages/testing/src/bytes'
import type { SimulatedProcess } from '../../packages/testing/src/simulation/process'
import type { SimulatedServer } from '../../packages/testing/src/simulation/server'
import { SimulatedRedis } from '../../packages/testing/src/simulation/simulated-redis'
import type { JavaPort, Timer } from './java-model/port'

/** The model of a Java client in the simulated world, by two connections. */
export class SimulatedJavaPort implements JavaPort {
  readonly commands: SimulatedRedis
  readonly messages: SimulatedRedis
  private readonly listeners = new Map<string, (message: string) => void>()

  constructor(
    private readonly server: SimulatedServer,
    private readonly process: SimulatedProcess,
  ) {
    this.commands = new SimulatedRedis(server, process, 'commands')
    this.messages = new SimulatedRedis(server, process, 'messages')
    for (const each of [this.commands, this.messages]) each.on('error', () => {})
    this.messages.on('message', (channel: string, message: string) => this.listeners.get(channel)?.(message))
    this.messages.on('ready', () => {
      const channels = [...this.listeners.keys()]
      if (channels.length > 0) this.messages.subscribe(...channels).catch(() => {})
    })
  }

  async connect(): Promise<void> {
    await Promise.all([this.commands.connect(), this.messages.connect()])
  }

  run(script: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const { server } = this
    const [names, words] = [[...keys], args.map(String)]
    const execute = () => toReply(server.engine.evaluate(script, names, words))
    const sent = ['java', ...names, ...words]
    return new Promise((resolve, reject) => this.commands.send('eval', sent, execute, resolve, reject))
  }

  async subscribe(channel: string, listener: (message: string) => void): Promise<void> {
    this.listeners.set(channel, listener)
    await this.messages.subscribe(channel)
  }

  async unsubscribe(channel: string): Promise<void> {
    this.listeners.delete(channel)
    try {
      await this.messages.unsubscribe(channel)
    } catch {
      // Refused, or the connection is away, and the next one has only the channels that are wanted.
      this.process.after(500, () => {
        if (this.messages.status === 'ready' && !this.listeners.has(channel)) void this.unsubscribe(channel)
      })
    }
  }

  /** A random UUID of version 4, as Java has it. */
  newClientId(): string {
    const hex = Array.from({ length: 32 }, () => Math.floor(this.random() * 16).toString(16)).join('')
    return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-a$4-$5')
  }

  now(): number {
    return Math.floor(this.process.now().wall)
  }

  after(ms: number, callback: () => void): Timer {
    return this.process.after(ms, callback)
  }

  random(): number {
    return this.process.world.choices.stream(`java ${this.process.name}`).fraction()
  }

  close(): void {
    this.commands.disconnect()
    this.messages.disconnect()
  }
}
