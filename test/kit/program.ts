import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { closedAfterEach } from './closing'
import { endWithThisProcess } from './servers/left-behind'

const running = new Set<ChildProcess>()

/** A Node process of its own, running a file of test/kit/programs. */
export class Program {
  private readonly child: ChildProcess
  private readonly lines: AsyncIterator<string>
  private errors = ''
  readonly exit: Promise<number | null>

  constructor(file: string, ...args: string[]) {
    this.child = spawn(process.execPath, ['--import', 'tsx', join(__dirname, 'programs', file), ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    running.add(this.child)
    endWithThisProcess(this.child)
    this.exit = once(this.child, 'exit').then(([code]) => {
      running.delete(this.child)
      return code as number | null
    })
    this.child.stderr!.on('data', (chunk: Buffer) => {
      this.errors += chunk.toString()
    })
    this.lines = createInterface({ input: this.child.stdout! })[Symbol.asyncIterator]()
  }

  /** The next line it prints. */
  async line(): Promise<string> {
    const { value, done } = await this.lines.next()
    if (done) throw new Error(`the program ended: ${this.errors}`)
    return value
  }

  say(line: string): void {
    this.child.stdin!.write(`${line}\n`)
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    this.child.kill(signal)
  }
}

async function killPrograms(): Promise<void> {
  const children = [...running]
  const exits = children.map((child) => once(child, 'exit'))
  for (const child of children) child.kill('SIGKILL')
  await Promise.all(exits)
}
closedAfterEach('process', killPrograms)
