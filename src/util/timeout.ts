import type { Clock } from './clock'

/**
 * Settles as the work does, or after `ms` with what `late` returns or throws; Infinity: never. The timer ends
 * with the work.
 * Work that fails later causes no unhandled rejection.
 */
export function withTimeout<T>(work: Promise<T>, ms: number, clock: Clock, late: () => T): Promise<T> {
  if (ms === Number.POSITIVE_INFINITY) return work
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => {
      Promise.resolve().then(late).then(resolve, reject)
    })
    work.then(resolve, reject).then(() => timer.cancel())
  })
}
