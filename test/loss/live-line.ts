/** One line that is written over again and again on a terminal; elsewhere only what is to be kept is written. */
export class LiveLine {
  private readonly live = process.stderr.isTTY

  show(text: string): void {
    if (this.live) process.stderr.write(`\r${text.slice(0, process.stderr.columns - 1)}\x1b[K`)
  }

  /** A line that stays. */
  keep(text: string): void {
    process.stderr.write(this.live ? `\r${text}\x1b[K\n` : `${text}\n`)
  }

  end(): void {
    if (this.live) process.stderr.write('\r\x1b[K')
  }
}
