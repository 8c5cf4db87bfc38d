import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { HoldOrder, Order, Told } from './messages'

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
    this.child.on('message', (told: Told) => this.hear(told))
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
      this.child.on('message', function listen(this: ChildProcess, told: Told) {
        if (told.told !== 'ended') return
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

  private hear(told: Told) {
    if (told.told === 'held') this.heard.held = told.at
    if (told.told === 'signal') this.heard.signal ??= told.at
    if (told.told === 'not held') this.heard.notHeld ??= told.at
    if (told.told === 'woke') this.heard.woke ??= { at: told.at, isHeld: told.isHeld }
    this.changed()
  }
}
