/** The class of the error by which disposing says that what was held was lost meanwhile. */
// biome-ignore lint/suspicious/noExplicitAny: whatever it is made of.
type Loss = abstract new (...args: any[]) => Error & { result?: unknown }

/** Runs `fn`, then disposes of what is held. A loss carries what `fn` returned as its `result`. */
export async function disposeAfter<T>(
  held: { [Symbol.asyncDispose](): Promise<void> },
  fn: () => T | Promise<T>,
  Loss: Loss,
): Promise<T> {
  let result: T
  try {
    result = await fn()
  } catch (error) {
    // What fn failed with is what its caller must know; what is held is released in the background if need be.
    await held[Symbol.asyncDispose]().catch(() => {})
    throw error
  }
  try {
    await held[Symbol.asyncDispose]()
  } catch (error) {
    if (error instanceof Loss) error.result = result
    throw error
  }
  return result
}
