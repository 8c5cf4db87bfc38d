import { EventEmitter } from 'node:events'
import type { Redis } from 'ioredis'
import { handshakes, outsideRequests, random } from 'rlock/internal'
import { InFlight } from './in-flight'
import type { SimulatedProcess } from './process'
import { LATER, type SimulatedServer } from './server'
import { SimulatedPipeline } from './simulated-pipeline'
import { type Break, type Sent, Socket } from './socket'
import type { Event } from './trace'

const CLOSED = 'Connection is closed.'
/** How long ioredis waits for the end of a connection that it closes, in ms, before it destroys it. */
const DISCONNECT_TIMEOUT = 500
const CONNECT_TIMEOUT = 10_000

type Status = 'wait' | 'connecting' | 'connect' | 'ready' | 'close' | 'reconnecting' | 'end'
type Words = readonly (string | number)[]

/**
 * What the package uses of ioredis's `Redis`, with the same states, events and times, over simulated sockets: its fences, health
 * checks and subscriptions run on it as they are. Commands in flight are rejected when their connection breaks, as with
 * `maxRetriesPerRequest: 0`.
 */
export class SimulatedRedis extends EventEmitter {
  status: Status = 'wait'
  /** Emits `close`, before the commands in flight are rejected. */
  stream = new EventEmitter() as EventEmitter & { destroyed: boolean }
  /** Sent and not answered. */
  readonly commandQueue: Sent[] = []
  private socket: Socket | undefined
  private retries = 0
  private retry: Event | undefined
  private isEnding = false
  private isClosing = false
  /** Whether new connections hang, as with a network that drops packets. */
  isUnreachable = false
  private slowness = 0
  /** The names of the scripts, by hash and by source: for the trace. */
  readonly scriptNames = new Map<string, string>()

  constructor(
    readonly server: SimulatedServer,
    private readonly process: SimulatedProcess,
    readonly name: string,
  ) {
    super()
    this.setMaxListeners(0)
    process.onKilled(() => {
      this.isEnding = true
    })
  }

  get isIdle(): boolean {
    return this.commandQueue.length === 0
  }

  connect(): Promise<void> {
    this.isEnding = false
    const ready = new Promise<void>((resolve, reject) => {
      const settle = (done: () => void) => () => {
        this.off('ready', onReady)
        this.off('close', onClose)
        done()
      }
      const onReady = settle(resolve)
      const onClose = settle(() => reject(new Error(CLOSED)))
      this.on('ready', onReady)
      this.on('close', onClose)
    })
    this.open()
    return ready
  }

  private open() {
    const { world } = this.process
    this.status = 'connecting'
    const started = world.time
    const arrive = () => {
      if (this.status !== 'connecting') return
      if (this.isEnding) return this.ended()
      if (this.isUnreachable) {
        if (world.time - started < CONNECT_TIMEOUT)
          return void world.in(CONNECT_TIMEOUT, this.process, arrive)
        return this.unreachable('ETIMEDOUT')
      }
      if (this.server.isDown) return this.unreachable('ECONNREFUSED')
      this.connected()
    }
    world.in(1 + this.slowness, this.process, arrive)
  }

  private unreachable(code: string) {
    const error = Object.assign(new Error(`connect ${code}`), { code })
    if (this.listenerCount('error') > 0) this.emit('error', error)
    this.closed()
  }

  private connected() {
    const delays = this.process.world.choices.stream(`delays ${this.process.name} ${this.name}`)
    const stream = Object.assign(new EventEmitter(), { destroyed: false })
    const socket = new Socket(this.server, this.process, `${this.process.name} ${this.name}`, delays, {
      closed: () => {
        if (this.socket !== socket) return
        stream.destroyed = true
        outsideRequests(() => stream.emit('close'))
      },
    })
    socket.slowness = this.slowness
    this.isClosing = false
    this.socket = socket
    this.stream = stream
    stream.once('close', () => this.closed())
    this.status = 'connect'
    outsideRequests(() => this.emit('connect'))
    // The check of ioredis before `ready`.
    this.info('server').then(
      () => {
        if (this.socket !== socket || this.status !== 'connect') return
        const { runId } = this.server
        const handshake = { runId, mode: 'standalone', isReplica: false, connection: socket.id }
        handshakes.set(this as unknown as Redis, handshake)
        this.status = 'ready'
        this.retries = 0
        outsideRequests(() => this.emit('ready'))
      },
      () => this.socket === socket && this.disconnect(true),
    )
  }

  /** The connection is gone: rejects what is in flight, and connects again after a back-off. */
  private closed() {
    this.socket = undefined
    this.isClosing = false
    this.status = 'close'
    process.nextTick(() => this.emit('close'))
    if (this.isEnding) this.ended()
    else {
      this.status = 'reconnecting'
      const backOff = Math.min(50 * 2 ** Math.min(++this.retries, 10), 1_000) * (0.75 + random() / 2)
      this.retry = this.process.world.in(Math.ceil(backOff), this.process, () => {
        this.retry = undefined
        this.open()
      })
    }
    this.rejectAll()
  }

  private ended() {
    this.status = 'end'
    process.nextTick(() => this.emit('end'))
  }

  private rejectAll() {
    for (const sent of this.commandQueue.splice(0)) sent.failed(new Error(CLOSED))
  }

  disconnect(reconnects = false): void {
    const { world } = this.process
    if (!reconnects) this.isEnding = true
    if (this.retry && !reconnects) {
      world.cancel(this.retry)
      this.retry = undefined
      this.ended()
      return this.rejectAll()
    }
    const { socket } = this
    if (!socket) {
      if (this.status === 'wait') this.closed()
      return
    }
    if (this.isClosing) return
    this.isClosing = true
    socket.close()
    // The server's end of the connection comes back, or never does.
    const delay = socket.isSilent || this.server.isPaused ? DISCONNECT_TIMEOUT : 1
    world.in(delay, this.process, () => {
      if (this.socket !== socket) return
      this.stream.destroyed = true
      outsideRequests(() => this.stream.emit('close'))
    })
  }

  /** Its state, and what is under way, as text: for those who tell states of the world apart. */
  describe(): string {
    return JSON.stringify([
      this.status,
      this.commandQueue.map(({ words }) => words.join(' ')),
      this.socket?.describe(),
      [...(this.socket?.subscribed.keys() ?? [])],
    ])
  }

  // Faults of the network between this client and its server.

  break(how: Break): boolean {
    this.socket?.break(how)
    return this.socket !== undefined
  }

  slowDown(ms: number): void {
    this.slowness = ms
    if (this.socket) this.socket.slowness = ms
  }

  // Commands.

  /** Sends a command; calls back in the event in which its answer arrives. */
  send(
    command: string,
    words: readonly string[],
    execute: (socket: Socket) => unknown,
    answered: (value: unknown) => void,
    failed: (error: unknown) => void,
  ) {
    const { socket } = this
    if (!socket) return failed(new Error(CLOSED))
    const sent = new InFlight(this.commandQueue, command, words, () => execute(socket), answered, failed)
    this.commandQueue.push(sent)
    if (!this.isClosing) socket.send(sent)
  }

  private ask<T>(command: string, words: Words, execute: (socket: Socket) => unknown): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.send(
        command,
        [command, ...words.map(String)],
        execute,
        resolve as (value: unknown) => void,
        reject,
      )
    })
  }

  ping(): Promise<string> {
    return this.ask('ping', [], () => 'PONG')
  }

  info(section: string): Promise<string> {
    return this.ask('info', [section], () => this.server.info(section))
  }

  client(what: 'ID' | 'KILL', ...words: Words): Promise<number> {
    return this.ask(`client ${what.toLowerCase()}`, words, (socket) =>
      what === 'ID' ? socket.id : this.server.kill(Number(words[1])),
    )
  }

  subscribe(...channels: string[]): Promise<number> {
    return this.ask('subscribe', channels, ({ subscribed }) => {
      for (const channel of channels) subscribed.set(channel, (text) => this.emit('message', channel, text))
      return subscribed.size
    })
  }

  unsubscribe(...channels: string[]): Promise<number> {
    return this.ask('unsubscribe', channels, ({ subscribed }) => {
      for (const channel of channels) subscribed.delete(channel)
      return subscribed.size
    })
  }

  pipeline(): SimulatedPipeline {
    return new SimulatedPipeline(this)
  }

  /** WAIT: answered when the replica has what this connection has written. */
  wait(timeout: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.send(
        'wait',
        ['wait', String(timeout)],
        (socket) => {
          this.server.whenReplicated(timeout, (count) => socket.deliver(() => answer(count)))
          return LATER
        },
        (count) => resolve(count as number),
        reject,
      )
      const sent = this.commandQueue.at(-1)
      const answer = (count: number) => sent?.answered(count)
    })
  }
}
