const PLAIN_EVERY = 10_000

/** One line of progress: rewritten on a terminal, else a new line every ten seconds. */
export function liveLine(output: NodeJS.WriteStream = process.stdout) {
  const started = performance.now()
  let written = Number.NEGATIVE_INFINITY
  return {
    show(text: string): void {
      const now = performance.now()
      const line = `${((now - started) / 1_000).toFixed(0)} s: ${text}`
      if (output.isTTY) output.write(`\r\x1b[2K${line.slice(0, output.columns - 1)}`)
      else if (now - written >= PLAIN_EVERY) {
        written = now
        output.write(`${line}\n`)
      }
    },
    /** A line that stays. */
    keep(text: string): void {
      output.write(output.isTTY ? `\r\x1b[2K${text}\n` : `${text}\n`)
    },
    clear(): void {
      if (output.isTTY) output.write('\r\x1b[2K')
    },
  }
}
