import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { waitUntil } from '../../../kit/servers/index'
import { endWithThisProcess } from '../../../kit/servers/left-behind'
import type { FromWorker, ToWorker, WorkerReport, WorkerSetup } from '../worker/messages'
import type { Network } from './network'

export interface NodeWorkerEvents {
  /** It ended by itself. */
  died(why: string): void
  /** Its client raised an `error` event. */
  complained(message: string, at: number): void
}

/** The run's hold on one of its Node processes, which does not outlive it. */
export class NodeWorker {
  readonly #child: ChildProcess
  readonly #exited: Promise<string>
  #stderr = ''
  /** The first part of its owner fields. */
  clientId = ''
  /** It is meant to end, or was killed. */
  #ending = false

  private constructor(
    readonly setup: WorkerSetup,
    readonly network: Network,
    { died, complained }: NodeWorkerEvents,
  ) {
    // What runs this process, tsx included, runs the child as well.
    this.#child = fork(join(__dirname, '../worker/main.ts'), [JSON.stringify(setup)], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    endWithThisProcess(this.#child)
    this.#child.on('message', (message: FromWorker) => {
      if (message.is === 'complaint') complained(message.message, message.at)
    })
    this.#child.stderr!.on('data', (data) => {
      if (process.env.CHAOS_STDERR) process.stderr.write(data)
      this.#stderr = (this.#stderr + data).slice(-4_000)
    })
    this.#exited = new Promise((resolve) => {
      this.#child.once('error', (failure) => resolve(failure.message))
      this.#child.once('close', (code, signal) => {
        resolve(`it ended (${signal ?? code})`)
        if (!this.#ending) died(`${this.name} ended by itself (${signal ?? code})\n${this.#stderr.trim()}`)
      })
    })
  }

  /** Resolves when it is connected and waits for `start`. */
  static async start(setup: WorkerSetup, network: Network, events: NodeWorkerEvents): Promise<NodeWorker> {
    const worker = new NodeWorker(setup, network, events)
    worker.clientId = (await worker.#answer('ready')).clientId
    return worker
  }

  get name(): string {
    return this.setup.worker
  }

  send(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(message)
  }

  /** Resolves when the event loop is free again, with the moment, or when it was killed. */
  async block(ms: number): Promise<void> {
    this.send({ do: 'block', ms })
    await Promise.race([this.#answer('unblocked'), this.#exited])
  }

  async join(lock: string, count: number, waitTime: number): Promise<void> {
    this.send({ do: 'join', lock, count, waitTime })
    await Promise.race([this.#answer('joined'), this.#exited])
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  async kill(): Promise<void> {
    this.#ending = true
    this.#child.kill('SIGKILL')
    await this.#exited
  }

  /** Every caller ends after its turn; undefined when some of them never came to an end. */
  async finish(withinMs: number): Promise<WorkerReport | undefined> {
    this.send({ do: 'stop' })
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, withinMs, undefined).unref())
    return (await Promise.race([this.#answer('stopped'), late]))?.report
  }

  /** Whether the process ended by itself once its client was shut down, as it does when nothing is left of it. */
  async endsByItself(withinMs: number): Promise<boolean> {
    this.#ending = true
    this.send({ do: 'shutdown' })
    let ended = false
    void this.#exited.then(() => {
      ended = true
    })
    await waitUntil('the worker ends', () => ended, withinMs).catch(() => {})
    if (!ended) await this.kill()
    return ended
  }

  get stderr(): string {
    return this.#stderr.trim()
  }

  #answer<K extends FromWorker['is']>(kind: K): Promise<Extract<FromWorker, { is: K }>> {
    return new Promise((resolve, reject) => {
      const onMessage = (message: FromWorker) => {
        if (message.is !== kind) return
        this.#child.off('message', onMessage)
        resolve(message as Extract<FromWorker, { is: K }>)
      }
      this.#child.on('message', onMessage)
      if (kind === 'ready')
        void this.#exited.then((how) => reject(new Error(`${this.name} failed: ${how}\n${this.#stderr}`)))
    })
  }
}
