const PLAIN_EVERY = 10_000

/** One line that says what is going on: rewritten on a terminal, else a new one every ten seconds. */
export function liveLine(output: NodeJS.WriteStream = process.stdout) {
  const started = performance.now()
  let written = Number.NEGATIVE_INFINITY
  return {
    show(text: string): void {
      const now = performance.now()
      const line = `${((now - started) / 1_000).toFixed(0)} s: ${text}`
      if (output.isTTY) output.write(`\r\x1b[2K${line}`)
      else if (now - written >= PLAIN_EVERY) {
        written = now
        output.write(`${line}\n`)
      }
    },
    clear(): void {
      if (output.isTTY) output.write('\r\x1b[2K')
    },
  }
}
