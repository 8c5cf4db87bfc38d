import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { endWithThisProcess } from '../kit/servers/left-behind'
import { waitUntil } from '../kit/servers/wait-until'

export const FOLDER = join(__dirname, '../../examples')
const running = new Set<Example>()

/** A file of examples/ as a process of its own. */
export class Example {
  private readonly child: ChildProcess
  /** What it printed, and when. */
  readonly lines: { text: string; at: number }[] = []
  readonly exit: Promise<number | null>
  private errors = ''

  constructor(
    readonly file: string,
    env: Record<string, string>,
    /** Files that Node loads before it. Not by NODE_OPTIONS: the thread in which tsx compiles would load them as well, and wait for itself. */
    before: readonly string[] = [],
  ) {
    const imports = ['tsx', ...before].flatMap((each) => ['--import', each])
    this.child = spawn(process.execPath, [...imports, join(FOLDER, file)], {
      cwd: join(FOLDER, '..'),
      env: { ...process.env, PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.add(this)
    endWithThisProcess(this.child)
    this.exit = once(this.child, 'exit').then(([code]) => {
      running.delete(this)
      return code as number | null
    })
    createInterface({ input: this.child.stdout! }).on('line', (text) =>
      this.lines.push({ text, at: Date.now() }),
    )
    this.child.stderr!.on('data', (chunk: Buffer) => {
      this.errors += chunk.toString()
    })
  }

  /** What it wrote to its error output, without what Node says of features that it calls experimental. */
  get complaints(): string {
    return this.errors.replace(/^.*(ExperimentalWarning|--trace-warnings).*\n/gm, '')
  }

  /** Resolves when it is ready; with its address, where it serves. */
  async ready(): Promise<string> {
    await waitUntil(`${this.file} is ready`, () => this.lines.some(({ text }) => text.startsWith('ready')))
    const printed = this.lines.map(({ text }) => text).join('\n')
    return `http://127.0.0.1:${/port: (\d+)/.exec(printed)?.[1]}`
  }

  end(signal: NodeJS.Signals): void {
    this.child.kill(signal)
  }
}

/** To be called in `afterEach`. */
export async function endExamples(): Promise<void> {
  const left = [...running]
  for (const example of left) example.end('SIGKILL')
  await Promise.all(left.map(({ exit }) => exit))
}
