import type { Clock } from './clock'

/**
 * Settles as the work does, or after `ms` with what `late` returns or throws. The timer ends with the work. Work that fails
 * later causes no unhandled rejection.
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
