import type { Clock } from './clock'

/**
 * Settles with the work, or with what `late` returns or throws once `ms` are over. The timer ends with the work, and
 * work that fails later is no unhandled rejection.
 */
export async function withTimeout<T>(work: Promise<T>, ms: number, clock: Clock, late: () => T): Promise<T> {
  let timer = { cancel() {} }
  const timeout = new Promise<T>((resolve, reject) => {
    timer = clock.after(ms, () => {
      try {
        resolve(late())
      } catch (error) {
        reject(error)
      }
    })
  })
  work.catch(() => {})
  try {
    return await Promise.race([work, timeout])
  } finally {
    timer.cancel()
  }
}
