import { createColors } from 'picocolors'
import { LiveRegion } from '../test/kit/terminal/live-region'
import type { Evidence } from './evidence'
import type { Mode } from './mode'
import { type Look, picture } from './timeline'

const FRAME_MS = 100
const PLAIN_WIDTH = 80

export interface Run {
  readonly mode: Mode
  readonly evidence: Evidence
  readonly rows: readonly string[]
  readonly seconds: number
  /** The server's clock. */
  now(): number
}

/** Shows a run while it lasts: a moving timeline in a terminal, a line a second elsewhere. */
export interface Progress {
  start(run: Run): void
  /** Shows how it was when the time was up. */
  finish(): void
}

export const isLive = process.stdout.isTTY === true && process.env.TERM !== 'dumb'
/** Not picocolors' own guess, which colours pipes in CI as well. */
export const colors = createColors(isLive && !process.env.NO_COLOR)

export function progress(): Progress {
  return isLive ? new LiveProgress() : new PlainProgress()
}

class LiveProgress implements Progress {
  readonly #region = new LiveRegion(process.stdout)
  #run: Run | undefined
  #end = 0
  #timer: NodeJS.Timeout | undefined
  readonly #draw = () => this.#drawAt(this.#run!.now())

  start(run: Run): void {
    this.#run = run
    this.#end = run.now() + run.seconds * 1000
    this.#timer = setInterval(this.#draw, FRAME_MS)
    process.stdout.on('resize', this.#draw)
    this.#draw()
  }

  finish(): void {
    clearInterval(this.#timer)
    process.stdout.off('resize', this.#draw)
    this.#drawAt(this.#end)
    this.#region.close()
  }

  #drawAt(time: number): void {
    const { mode, evidence, rows, seconds } = this.#run!
    const left = Math.max(0, (this.#end - time) / 1000)
    const look: Look = { columns: process.stdout.columns, colors, ascii: process.env.TERM === 'linux' }
    const wrongs = mode.wrongs(evidence).map(({ count, what }) => {
      const text = `${count} ${what}`
      return count > 0 ? colors.red(text) : text
    })
    this.#region.draw([
      ...picture(evidence, rows, Math.min(time, this.#end), look, mode.drawing),
      `${left.toFixed(1).padStart(4)} of ${seconds} s left   ${evidence.sections.length} turns   ${wrongs.join('   ')}`,
    ])
  }
}

class PlainProgress implements Progress {
  #run: Run | undefined
  #began = 0
  #timer: NodeJS.Timeout | undefined

  start(run: Run): void {
    this.#run = run
    this.#began = run.now()
    this.#timer = setInterval(() => this.#line(), 1000)
  }

  finish(): void {
    clearInterval(this.#timer)
    const { mode, evidence, rows, seconds } = this.#run!
    const look: Look = { columns: PLAIN_WIDTH, colors, ascii: true }
    const end = this.#began + seconds * 1000
    console.log(['', ...picture(evidence, rows, end, look, mode.drawing)].join('\n'))
  }

  #line(): void {
    const { mode, evidence, rows, seconds, now } = this.#run!
    const passed = Math.round((now() - this.#began) / 1000)
    if (passed > seconds) return
    const turns = rows.map(
      (who) => `${who} ${mode.turns(evidence.sections.filter((section) => section.who === who))}`,
    )
    const total = `${evidence.sections.length} turns (${turns.join(', ')})`
    const wrongs = mode.wrongs(evidence).map(({ count, what }) => `${count} ${what}`)
    console.log([`${String(passed).padStart(4)} of ${seconds} s: ${total}`, ...wrongs].join(', '))
  }
}
