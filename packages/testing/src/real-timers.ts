import { stat } from 'node:fs'
import { setImmediate, setTimeout } from 'rlock/internal'

/** Far more events of Node than happen in the one millisecond of the timer. */
const MOST_EVENTS = 5_000

let checked: Promise<void> | undefined

/** Rejects if the timers that rlock found at its import were fake: calls would wait for ever. Once for each process. */
export function checkTimers(): Promise<void> {
  checked ??= check()
  return checked
}

async function check(): Promise<void> {
  const silent = new Set(['setImmediate', 'setTimeout'])
  setImmediate(() => silent.delete('setImmediate'))
  setTimeout(() => silent.delete('setTimeout'), 1)
  for (let events = 0; silent.size > 0; events++) {
    if (events > MOST_EVENTS)
      throw new Error(
        `${[...silent].join(' and ')} of Node were fake when rlock was imported, so that its calls would never end: ` +
          'import rlock before you use fake timers (docs/guides/testing.md)',
      )
    // Not a timer: fake timers do not stop it.
    await new Promise<void>((resolve) => stat('.', () => resolve()))
  }
}
