import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endWithThisProcess, removeNow, removeWithThisProcess } from './left-behind'
import type { Machine, ServerMode, ServerProcess } from './machine'
import { waitUntil } from './wait-until'

const LOG_CHARACTERS_KEPT = 4000

/** Runs servers as children of this process, bound to the loopback, in a temporary directory. */
export class LocalMachine implements Machine {
  readonly host = '127.0.0.1'
  private readonly home = mkdtempSync(join(tmpdir(), 'rlock-servers-'))
  private readonly processes = new Set<LocalProcess>()

  constructor(private readonly binary: string) {
    removeWithThisProcess(this.home)
  }

  async prepare(port: number, config: readonly string[]): Promise<void> {
    const directory = this.directoryOf(port)
    rmSync(directory, { recursive: true, force: true })
    mkdirSync(directory)
    writeFileSync(join(directory, 'node.conf'), `${[`bind ${this.host}`, ...config].join('\n')}\n`)
  }

  async start(port: number, mode: ServerMode): Promise<ServerProcess> {
    const flags = mode === 'sentinel' ? ['--sentinel'] : []
    const child = spawn(this.binary, ['./node.conf', ...flags], {
      cwd: this.directoryOf(port),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const started = new LocalProcess(child)
    this.processes.add(started)
    return started
  }

  async close(): Promise<void> {
    await Promise.all([...this.processes].map((process) => process.end()))
    removeNow(this.home)
  }

  private directoryOf(port: number): string {
    return join(this.home, String(port))
  }
}

class LocalProcess implements ServerProcess {
  private output = ''
  private ended = false

  constructor(private readonly child: ChildProcess) {
    endWithThisProcess(child)
    child.once('exit', () => {
      this.ended = true
    })
    child.once('error', (failure) => {
      this.ended = true
      this.keep(String(failure))
    })
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => this.keep(chunk.toString()))
      // A server that was not stopped must not keep a finished script alive; leaving ends it.
      ;(stream as Socket | null)?.unref()
    }
    child.unref()
  }

  async running(): Promise<boolean> {
    return !this.ended
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    this.child.kill(signal)
  }

  async log(): Promise<string> {
    return this.output
  }

  /** SIGKILL, as a paused server would not hear anything gentler and the data goes away anyhow. */
  async end(): Promise<void> {
    this.child.kill('SIGKILL')
    await waitUntil('a killed server is gone', () => this.ended, 5000, 5)
  }

  private keep(text: string): void {
    this.output = (this.output + text).slice(-LOG_CHARACTERS_KEPT)
  }
}
