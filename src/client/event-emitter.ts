import { EventEmitter } from 'eventemitter3'
import { RedissonError, RedisUnavailableError } from '../api/errors'
import type { EventOrigin, RedissonEvents } from '../api/events'
import { inThisContext } from '../util/async-context'
import { messageOf } from '../util/quote'

const EVENTS: readonly string[] = 'lockLost permitLost renewalFailed unavailable available error'.split(' ')

/**
 * Notifies the listeners of a client's events. Each runs in the async context in which it was added. A
 * listener that throws harms no lock: its error becomes an `error` event. If a listener of `error` throws,
 * its error becomes a process warning.
 */
export class ClientEvents {
  private readonly emitter = new EventEmitter<keyof RedissonEvents>()

  constructor(readonly origin: EventOrigin) {}

  on<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E], isOnce = false): void {
    if (!EVENTS.includes(event))
      throw new TypeError(`unknown event ${String(event)}; expected one of ${EVENTS.join(', ')}`)
    if (typeof listener !== 'function') throw new TypeError('a listener must be a function')
    const call = inThisContext(listener as (payload: unknown) => unknown)
    const bound = (payload: unknown) => {
      if (isOnce) this.emitter.off(event, bound)
      return call(payload)
    }
    this.emitter.on(event, Object.assign(bound, { listener }))
  }

  off<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E]): void {
    for (const bound of this.emitter.listeners(event))
      if ((bound as { listener?: unknown }).listener === listener) this.emitter.off(event, bound)
  }

  emit<E extends keyof RedissonEvents>(
    event: E,
    given: Omit<Parameters<RedissonEvents[E]>[0], keyof EventOrigin>,
  ): void {
    const payload = Object.assign(event === 'error' ? given : { ...given }, this.origin)
    // Calls the listeners one by one: in the emitter's own loop a listener that throws would keep the next
    // ones from running.
    for (const listener of this.emitter.listeners(event)) {
      try {
        const result: unknown = listener(payload)
        if (result instanceof Promise) result.catch((error) => this.reportThrown(event, error))
      } catch (error) {
        this.reportThrown(event, error)
      }
    }
  }

  /** What a connection says of the server, with address and client. */
  ofServer(cause: Error): Error {
    if (cause instanceof RedissonError) return cause
    const { address, clientId } = this.origin
    const hint = /\bREADONLY\b/.test(cause.message) ? '. The server at this address is a replica now' : ''
    return new RedisUnavailableError(
      `Redis at ${address} is unavailable (client ${clientId}): ${cause.message}${hint}`,
      { cause },
    )
  }

  readonly error = (error: Error): void => this.emit('error', error)

  private reportThrown(event: keyof RedissonEvents, thrown: unknown) {
    const error = new Error(`A listener of the ${event} event threw: ${messageOf(thrown)}`, { cause: thrown })
    if (event === 'error' || this.emitter.listenerCount('error') === 0)
      process.emitWarning(error.message, { code: 'RLOCK_LISTENER_THREW' })
    else this.error(error)
  }
}
