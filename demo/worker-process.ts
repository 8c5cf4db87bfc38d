import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { endWithThisProcess } from '../test/kit/servers/left-behind'
import type { FromWorker, ToWorker, WorkerSetup } from './messages'

/** The demo's hold on one of its Node processes, which does not outlive it. */
export class WorkerProcess {
  readonly #child: ChildProcess
  readonly #who: string
  readonly #exited: Promise<string>
  #stderr = ''
  #scrape: string | undefined

  private constructor(url: string, setup: WorkerSetup) {
    this.#who = setup.who
    // What runs this process, tsx included, runs the child as well.
    const child = fork(join(__dirname, 'worker.ts'), [JSON.stringify([url, setup])], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    this.#child = child
    endWithThisProcess(child)
    child.stderr!.on('data', (data) => {
      this.#stderr += data
    })
    this.#exited = new Promise((resolve) => {
      child.once('error', (failure) => resolve(failure.message))
      child.once('close', (code, signal) => {
        resolve(`it ended (${signal ?? code})`)
      })
    })
  }

  /** Resolves when the process is connected and waits for `run`. */
  static async start(url: string, setup: WorkerSetup): Promise<{ worker: WorkerProcess; clientId: string }> {
    const worker = new WorkerProcess(url, setup)
    const message = await worker.#message()
    if (!('ready' in message)) throw new Error(`${setup.who} said ${JSON.stringify(message)} first`)
    return { worker, clientId: message.ready }
  }

  /** Resolves when its last section is over and the process has ended. */
  async run(durationMs: number): Promise<void> {
    const done = this.#message()
    this.#child.send({ runForMs: durationMs } satisfies ToWorker)
    const message = await done
    if ('done' in message) this.#scrape = message.scrape
    await this.#exited
  }

  /** What a scrape would have seen of it at its end, where that was asked for. */
  async scrape(): Promise<string | undefined> {
    return this.#scrape
  }

  /** What it had to say besides: warnings, as a rule nothing. */
  get stderr(): string {
    return this.#stderr.trim()
  }

  #message(): Promise<FromWorker> {
    return Promise.race([
      new Promise<FromWorker>((resolve) =>
        this.#child.once('message', (message) => resolve(message as FromWorker)),
      ),
      this.#exited.then((how) => {
        throw new Error(`${this.#who} failed: ${how}${this.stderr && `\n${this.stderr}`}`)
      }),
    ])
  }
}
