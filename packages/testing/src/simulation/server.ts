import { toBytes, toReply } from '../bytes'
import { Keyspace, ReplyError } from '../data/keyspace'
import { Engine } from '../engine'
import type { ScriptMachine } from '../lua/script-machine'
import { Replica } from './replica'
import type { Acceptor, Sent, Socket } from './socket'
import type { Noted, Timeline } from './trace'

/** A command, or all, that the server refuses. */
export interface Refusal {
  /** The reply: `NOPERM …`, `OOM …`. */
  readonly error: string
  /** In lower case; absent: each command. A command in a script counts, too. */
  readonly command?: string | undefined
  /** Commands that change something, also in scripts. */
  readonly writes?: boolean
}

/** Commands that the server refuses without free memory, or as a replica: each of the scripts' that may write. */
const READS = new Set(
  'get exists ttl pttl time hget hexists hlen hgetall hkeys hmget lindex llen lrange scard smembers sismember zscore zcard zrange zrangebyscore zcount zrank type keys publish spublish pubsub strlen'.split(
    ' ',
  ),
)
export const isWrite = (command: string): boolean => !READS.has(command)

/** A Redis of the simulated world: real scripts, and connections that break. */
export class SimulatedServer implements Acceptor {
  engine: Engine
  runId: string
  /** The connections, by their ids. */
  private readonly sockets = new Map<number, Socket>()
  private nextId = 1
  /** What arrived while the server was paused. */
  private arrivals: { socket: Socket; sent: Sent }[] | undefined
  isDown = false
  /** Its replica has been promoted, and no client knows. */
  isReplaced = false
  private readonly refusals = new Set<Refusal>()
  /** How far its clock is from the virtual time, in ms. */
  private clockOffset: number
  /** Whether the last command, or a command of its script, may have changed a key. */
  hasWritten = false
  /** Calls back after each command, and after all that may change what keys there are. */
  onExecuted: ((sent: Sent | undefined, answer?: unknown) => void) | undefined
  /** The last time that a client was told the truth of a replica: undefined without replicas. */
  replica: Replica | undefined

  constructor(
    readonly world: Timeline,
    readonly name: string,
    private readonly machine: ScriptMachine,
    { hasReplica = false } = {},
  ) {
    this.clockOffset = 1_700_000_000_000 + Math.floor(world.choices.stream(`server ${name}`).fraction() * 1e9)
    this.engine = this.newEngine()
    this.runId = this.newRunId()
    if (hasReplica) this.replica = new Replica(this.world, this.engine.keyspace)
  }

  /** The time by its clock, in ms. */
  get time(): number {
    return this.world.time + this.clockOffset
  }

  *subscriptions(): Iterable<ReadonlyMap<string, unknown>> {
    for (const { subscribed } of this.sockets.values()) yield subscribed
  }

  publish(channel: string, message: string): number {
    let heard = 0
    for (const socket of this.sockets.values()) {
      const take = socket.subscribed.get(channel)
      if (!take) continue
      heard++
      socket.deliver(() => take(message), [channel, message])
    }
    this.world.trace.note(this.name, this.world.time, ['publish', channel, message], heard)
    return heard
  }

  beforeCommand(command: string, words: readonly string[], inScript: boolean): void {
    const writes = isWrite(command)
    for (const refusal of this.refusals) {
      if (
        refusal.command === undefined ? !(refusal.writes && writes && inScript) : refusal.command !== command
      )
        continue
      // A script that has written is not stopped halfway.
      if (refusal.writes && this.hasWritten) continue
      throw new ReplyError(refusal.error)
    }
    if (!writes) return
    this.hasWritten = true
    this.replica?.wrote(this.time, command, words)
  }

  accept(socket: Socket): number {
    const id = this.nextId++
    this.sockets.set(id, socket)
    return id
  }

  left(socket: Socket): void {
    socket.subscribed.clear()
    // A server that has started again counts its connections anew.
    if (this.sockets.get(socket.id) === socket) this.sockets.delete(socket.id)
  }

  arrived(socket: Socket, sent: Sent): void {
    if (this.arrivals) this.arrivals.push({ socket, sent })
    else this.execute(socket, sent)
  }

  private execute(socket: Socket, sent: Sent) {
    if (!socket.isOpenAtServer) return
    const { world } = this
    let value: unknown
    try {
      value = this.answer(sent)
      const answer = value === LATER ? undefined : (value as Noted)
      world.trace.note(this.name, world.time, sent.words, answer, socket.label)
      if (value !== LATER) socket.deliver(() => sent.answered(value), value)
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error
      world.trace.note(this.name, world.time, [...sent.words, '!', error.message], undefined, socket.label)
      const failure = Object.assign(new Error(error.message), { name: 'ReplyError' })
      socket.deliver(() => sent.failed(failure), error.message)
    }
    this.onExecuted?.(sent, value)
  }

  private answer(sent: Sent): unknown {
    this.hasWritten = false
    for (const refusal of this.refusals)
      if (!refusal.writes && (refusal.command === undefined || refusal.command === sent.command))
        throw new ReplyError(refusal.error)
    return sent.execute()
  }

  /** Runs a command of a test or of a stranger. */
  call(command: string, ...words: (string | number)[]): unknown {
    this.hasWritten = false
    const reply = toReply(this.engine.callBytes(command, words.map(toBytes)))
    this.world.trace.note(this.name, this.world.time, [command, ...words.map(String)])
    this.onExecuted?.(undefined)
    return reply
  }

  /** CLIENT KILL: what the connection has sent and the server has not read is lost. */
  kill(id: number): number {
    const socket = this.sockets.get(id)
    socket?.closeByServer()
    return socket ? 1 : 0
  }

  info(section: string): string {
    const fields =
      section === 'replication' ? this.replication() : ['redis_version:7.4.0', `run_id:${this.runId}`]
    return `${fields.join('\r\n')}\r\n`
  }

  private replication(): readonly string[] {
    const { sent, arrived } = this.replica?.progress ?? { sent: 0, arrived: 0 }
    const replica = `slave0:ip=replica,port=6379,state=online,offset=${arrived + 1},lag=0`
    return ['role:master', ...(this.replica ? [replica] : []), `master_repl_offset:${sent + 1}`]
  }

  /** Calls back with the number of replicas that have all writes so far, or once the time is over. */
  whenReplicated(timeout: number, done: (replicas: number) => void): void {
    const { replica, world } = this
    const delay = replica ? Math.max(0, replica.hasAllAt - world.time) : Number.POSITIVE_INFINITY
    world.in(Math.min(delay, timeout), undefined, () => {
      if (delay > timeout) done(0)
      // It has left meanwhile.
      else if (this.replica !== replica) world.in(timeout - delay, undefined, () => done(0))
      else done(1)
    })
  }

  pause(): void {
    this.arrivals ??= []
  }

  get isPaused(): boolean {
    return this.arrivals !== undefined
  }

  resume(): void {
    const arrivals = this.arrivals ?? []
    this.arrivals = undefined
    for (const { socket, sent } of arrivals) this.arrived(socket, sent)
  }

  /** The replica takes over with what it has. */
  failOver(): void {
    const keys = this.replica?.promoted() ?? new Keyspace()
    this.stop()
    this.start(keys)
  }

  /**
   * The replica is promoted, and nobody knows that yet: the primary goes on without it. Until the answer is called, which leads all
   * clients to the replica, and another replica to that one.
   */
  promoteReplica(): () => void {
    const keys = this.replica?.promoted() ?? new Keyspace()
    this.replica = undefined
    this.isReplaced = true
    return () => {
      this.isReplaced = false
      this.stop()
      this.start(keys)
      this.replica = new Replica(this.world, this.engine.keyspace)
    }
  }

  /** Refuses until the answer is called. */
  refuse(refusal: Refusal): () => void {
    this.refusals.add(refusal)
    return () => this.refusals.delete(refusal)
  }

  stepClock(ms: number): void {
    // What ran out does not come back with the time, neither here nor where a replica takes over.
    const { keyspace } = this.engine
    keyspace.time = this.time
    keyspace.dropExpired()
    this.replica?.expired(this.time)
    this.clockOffset += ms
    this.onExecuted?.(undefined)
  }

  /** The process of the server ends: its connections break, and what they carried is lost. */
  stop(): void {
    this.isDown = true
    this.arrivals = undefined
    for (const socket of [...this.sockets.values()]) socket.closeByServer()
  }

  /** Starts again. `keys`: from its disk; else it is empty. Scripts are unknown in any case. */
  start(keys: 'kept' | 'lost' | Keyspace): void {
    this.isDown = false
    this.runId = this.newRunId()
    this.nextId = 1
    if (keys instanceof Keyspace) this.engine = this.newEngine(keys)
    else this.engine = this.newEngine(keys === 'kept' ? this.engine.keyspace : new Keyspace())
    this.replica = this.replica && new Replica(this.world, this.engine.keyspace)
    this.onExecuted?.(undefined)
  }

  private newEngine(keyspace = new Keyspace()): Engine {
    return new Engine(this, this.machine, keyspace)
  }

  private newRunId(): string {
    const ids = this.world.choices.stream(`server ${this.name}`)
    return Array.from({ length: 5 }, () =>
      Math.floor(ids.fraction() * 2 ** 32)
        .toString(16)
        .padStart(8, '0'),
    ).join('')
  }
}

/** The answer of a command that comes later: WAIT. */
export const LATER = Symbol('later')
