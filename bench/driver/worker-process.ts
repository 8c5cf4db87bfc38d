import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { endWithThisProcess } from '../../test/kit/servers/left-behind'
import { epochNow } from '../worker/epoch'
import type { FromWorker, Results, Work } from '../worker/protocol'

/** A program with its arguments, and what its environment has beside ours. */
export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

export class WorkerTimeout extends Error {
  override readonly name = 'WorkerTimeout'
}

const ERRORS_KEPT = 4_000

/** One process that is measured. */
export class WorkerProcess {
  private readonly child: ChildProcess
  private readonly lines: AsyncIterator<string>
  private readonly exited: Promise<void>
  private errors = ''

  constructor({ program, args, environment }: Command) {
    this.child = spawn(program, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...environment },
    })
    endWithThisProcess(this.child)
    this.exited = new Promise((resolve) => this.child.once('close', () => resolve()))
    this.child.once('error', (error) => this.keep(String(error)))
    this.child.stderr!.on('data', (chunk: Buffer) => this.keep(chunk.toString()))
    this.child.stdin!.on('error', () => {}) // It is gone; its output has ended, too.
    this.lines = createInterface({ input: this.child.stdout! })[Symbol.asyncIterator]()
  }

  async prepare(work: Work, timeoutMs: number): Promise<void> {
    this.say(work)
    await this.next(timeoutMs, 'ready')
  }

  async run<T>(start: number, timeoutMs: number): Promise<T> {
    this.say({ start })
    return (await this.next(timeoutMs, 'result')) as T
  }

  kill(): void {
    this.child.kill('SIGKILL')
  }

  /** Kills it where it has not ended by itself; returns when it is gone. */
  async end(): Promise<void> {
    const grace = setTimeout(() => this.kill(), 1_000)
    await this.exited
    clearTimeout(grace)
  }

  private say(message: object): void {
    this.child.stdin!.write(`${JSON.stringify(message)}\n`)
  }

  private async next(timeoutMs: number, wanted: 'ready' | 'result'): Promise<unknown> {
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<never>((_, reject) => {
      const late = () => reject(new WorkerTimeout(`no ${wanted} within ${timeoutMs} ms; ${this.errors}`))
      timer = setTimeout(late, timeoutMs)
    })
    try {
      const { value, done } = await Promise.race([this.lines.next(), timeout])
      if (done) throw new Error(`a worker ended before its ${wanted}: ${this.errors.trim()}`)
      const message = JSON.parse(value) as FromWorker & Record<string, unknown>
      if (!(wanted in message)) throw new Error(`a worker said ${value} where its ${wanted} was due`)
      return message[wanted]
    } finally {
      clearTimeout(timer)
    }
  }

  private keep(text: string): void {
    this.errors = (this.errors + text).slice(-ERRORS_KEPT)
  }
}

interface Assignment<W extends Work = Work> {
  readonly command: Command
  readonly work: W
}

/** Many JVMs that start at once on a small machine take their time. */
const READY_WITHIN = 60_000
const RESULT_WITHIN = 10_000

/** Between the word and the start: long enough that it has reached every worker. */
const TO_START = 50

/**
 * Has one process for each assignment do its work, all from the same moment on, and meanwhile does something of
 * its own, which is given that moment. Rejects with a WorkerTimeout where a worker does not come to its end.
 */
export async function together<W extends Work, D = undefined>(
  assignments: readonly Assignment<W>[],
  meanwhile?: (start: number) => Promise<D>,
): Promise<{ results: Results[W['scenario']][]; seen: D }> {
  const workers = assignments.map(({ command }) => new WorkerProcess(command))
  try {
    await Promise.all(workers.map((worker, index) => worker.prepare(assignments[index]!.work, READY_WITHIN)))
    const start = epochNow() + TO_START
    const results = assignments.map(({ work }, index) =>
      workers[index]!.run<Results[W['scenario']]>(
        start,
        TO_START + work.warmupMs + work.measureMs + RESULT_WITHIN,
      ),
    )
    const all = Promise.all(results)
    // Awaited below; until then a failure must not count as one without a handler.
    all.catch(() => {})
    const seen = (await meanwhile?.(start)) as D
    return { results: await all, seen }
  } finally {
    await Promise.all(workers.map((worker) => worker.end()))
  }
}
