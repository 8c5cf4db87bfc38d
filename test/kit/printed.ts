import { closeOpened } from './closing'

/**
 * For a `describe`: what the process writes to its streams during a test, and the warnings of that time as `shown` shows them. In one list
 * that is emptied before each test.
 */
export function printedInEachTest(shown: (warning: Error) => string): string[] {
  const printed: string[] = []
  const originals = { out: process.stdout.write, err: process.stderr.write }
  const note = (warning: Error) => printed.push(shown(warning))
  beforeEach(() => {
    printed.length = 0
    process.on('warning', note)
    for (const stream of [process.stdout, process.stderr]) {
      const write = stream.write.bind(stream) as (...args: unknown[]) => boolean
      stream.write = ((chunk: unknown, ...rest: unknown[]) => {
        printed.push(String(chunk))
        return write(chunk, ...rest)
      }) as typeof stream.write
    }
  })
  afterEach(async () => {
    await closeOpened()
    // Warnings come a tick later.
    await new Promise((resolve) => setTimeout(resolve, 20))
    process.stdout.write = originals.out
    process.stderr.write = originals.err
    process.off('warning', note)
  })
  return printed
}
