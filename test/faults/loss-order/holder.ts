import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { endWithThisProcess } from '../../kit/servers/left-behind'
import type { HoldOrder, Order, Reported } from './messages'

const ANSWER_WITHIN = 30_000

/** What one round has heard from the holder so far. */
export interface Heard {
  held?: number
  signal?: number
  notHeld?: number
  woke?: { readonly at: number; readonly isHeld: boolean }
}

/** A process of its own that holds a lock, as seen from here. */
export class Holder {
  heard: Heard = {}
  private readonly child: ChildProcess
  private changed = () => {}

  private constructor() {
    this.child = fork(join(__dirname, 'holder-process.ts'), { execArgv: ['--import', 'tsx'] })
    endWithThisProcess(this.child)
    this.child.on('message', (reported: Reported) => this.hear(reported))
  }

  static async start(): Promise<Holder> {
    const holder = new Holder()
    await once(holder.child, 'message')
    return holder
  }

  async hold(order: HoldOrder): Promise<void> {
    this.heard = {}
    this.order({ do: 'hold', hold: order })
    await this.until(() => this.heard.held !== undefined)
  }

  order(order: Order): void {
    this.child.send(order)
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.child.kill(signal)
  }

  /** Lets go of the lock and of its client. */
  async end(): Promise<void> {
    const ended = new Promise<void>((resolve, reject) => {
      this.child.on('message', function listen(this: ChildProcess, reported: Reported) {
        if (reported.reported !== 'ended') return
        this.off('message', listen)
        resolve()
      })
      this.child.once('exit', () => reject(new Error('the holder process ended')))
    })
    this.order({ do: 'end' })
    await ended
    this.child.removeAllListeners('exit')
  }

  /** Whether it came true in time. */
  async until(heard: () => boolean, timeout = ANSWER_WITHIN): Promise<boolean> {
    const deadline = performance.now() + timeout
    while (!heard()) {
      const left = deadline - performance.now()
      if (left <= 0) return false
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.changed = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    return true
  }

  kill(): void {
    this.child.kill('SIGKILL')
  }

  private hear(reported: Reported) {
    if (reported.reported === 'held') this.heard.held = reported.at
    if (reported.reported === 'signal') this.heard.signal ??= reported.at
    if (reported.reported === 'not held') this.heard.notHeld ??= reported.at
    if (reported.reported === 'woke') this.heard.woke ??= { at: reported.at, isHeld: reported.isHeld }
    this.changed()
  }
}
