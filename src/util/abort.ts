import { outsideThreads } from '../ownership/logical-thread'

const callbacksOf = new WeakMap<EventTarget, Set<() => void>>()

function fire({ target }: Event): void {
  const callbacks = callbacksOf.get(target!)!
  callbacksOf.delete(target!)
  outsideThreads(() => {
    for (const each of callbacks) each()
  })
}

/**
 * Calls back when the signal aborts, until the returned function is called. The signal gets one listener for
 * all callbacks: Node warns at eleven listeners, and a signal may outlive a million waits.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const callbacks = callbacksOf.get(signal) ?? new Set()
  callbacks.add(callback)
  if (!callbacksOf.has(signal)) {
    callbacksOf.set(signal, callbacks)
    outsideThreads(() => signal.addEventListener('abort', fire, { once: true }))
  }
  return () => {
    callbacks.delete(callback)
    if (callbacks.size > 0 || callbacksOf.get(signal) !== callbacks) return
    callbacksOf.delete(signal)
    signal.removeEventListener('abort', fire)
  }
}

/** Settles as the work does, or rejects with the signal's reason if the signal aborts first. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    const stop = onAbort(signal, () => reject(signal.reason))
    work.then(resolve, reject).finally(stop)
  })
}

/** Runs the work with a signal that aborts as soon as one of these does. It leaves no listener behind. */
export async function withEither<T>(
  one: AbortSignal,
  other: AbortSignal | undefined,
  work: (either: AbortSignal) => Promise<T>,
): Promise<T> {
  if (!other) return await work(one)
  const either = new AbortController()
  const stops = [one, other].map((signal) => {
    if (signal.aborted) either.abort(signal.reason)
    return onAbort(signal, () => either.abort(signal.reason))
  })
  try {
    return await work(either.signal)
  } finally {
    for (const stop of stops) stop()
  }
}
