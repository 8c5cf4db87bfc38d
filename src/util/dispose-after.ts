import { refuseLazy } from './lazy-result'

/**
 * Runs `fn`, then disposes of `held`. An error of the class `Loss` gets what `fn` returned as its `result`.
 *
 * @throws TypeError for a result that does its work only when somebody reads it, after the disposal.
 */
export async function disposeAfter<T>(
  held: { [Symbol.asyncDispose](): Promise<void> },
  fn: () => T | Promise<T>,
  Loss?: abstract new (...args: never[]) => { result?: unknown },
): Promise<T> {
  let result: T
  try {
    result = await fn()
    refuseLazy(result)
  } catch (error) {
    // The caller gets the error of `fn`. If the disposal fails, too, the release goes on in the background.
    await held[Symbol.asyncDispose]().catch(() => {})
    throw error
  }
  try {
    await held[Symbol.asyncDispose]()
  } catch (error) {
    if (Loss && error instanceof Loss) error.result = result
    throw error
  }
  return result
}
