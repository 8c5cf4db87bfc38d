import { stripVTControlCharacters } from 'node:util'

const ESC = '\x1b['
const HIDE_CURSOR = `${ESC}?25l`
const SHOW_CURSOR = `${ESC}?25h`
const CLEAR_LINE = `${ESC}K`
const CLEAR_BELOW = `${ESC}J`

/** Some lines at the bottom of a terminal that are drawn over again and again. */
export class LiveRegion {
  #drawn: string[] = []
  #open = false
  readonly #showCursor = () => this.close()

  constructor(private readonly out: NodeJS.WriteStream) {}

  draw(lines: readonly string[]): void {
    let frame = ''
    if (!this.#open) {
      this.#open = true
      // However the process ends, the terminal gets its cursor back.
      process.once('exit', this.#showCursor)
      frame += HIDE_CURSOR
    }
    if (this.#drawn.length > 0) frame += `${ESC}${this.#height()}F`
    frame += lines.map((line) => `${line}${CLEAR_LINE}\n`).join('') + CLEAR_BELOW
    this.out.write(frame)
    this.#drawn = lines.map((line) => stripVTControlCharacters(line))
  }

  /** Leaves the last picture where it is. */
  close(): void {
    if (!this.#open) return
    this.#open = false
    this.#drawn = []
    process.off('exit', this.#showCursor)
    this.out.write(SHOW_CURSOR)
  }

  /** Rows that the last picture takes now: a terminal made narrower has wrapped its lines. */
  #height(): number {
    return this.#drawn.reduce(
      (rows, line) => rows + Math.max(1, Math.ceil(line.length / this.out.columns)),
      0,
    )
  }
}
