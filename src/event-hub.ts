import { EventEmitter } from 'eventemitter3'
import type { RedissonEvents } from './api/events'
import { outsideThreads } from './ownership/logical-thread'

const EVENTS: readonly (keyof RedissonEvents)[] = ['lockLost', 'renewalFailed', 'error']

/**
 * Tells listeners of a client's events. A listener that throws harms no lock: its error is told as an
 * `error` event, and one thrown by such a listener as a process warning.
 */
export class EventHub {
  private readonly emitter = new EventEmitter<RedissonEvents>()

  on<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E]): void {
    if (!EVENTS.includes(event))
      throw new TypeError(`there is no event ${String(event)}, only ${EVENTS.join(', ')}`)
    if (typeof listener !== 'function') throw new TypeError('a listener must be a function')
    this.emitter.on(event, listener as never)
  }

  off<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E]): void {
    this.emitter.off(event, listener as never)
  }

  emit<E extends keyof RedissonEvents>(event: E, payload: Parameters<RedissonEvents[E]>[0]): void {
    outsideThreads(() => {
      // One by one: with the emitter's own loop a listener that throws would silence those after it.
      for (const listener of this.emitter.listeners(event)) {
        try {
          const result: unknown = (listener as (payload: unknown) => unknown)(payload)
          if (result instanceof Promise) result.catch((error) => this.listenerThrew(event, error))
        } catch (error) {
          this.listenerThrew(event, error)
        }
      }
    })
  }

  error(error: Error): void {
    this.emit('error', error)
  }

  private listenerThrew(event: keyof RedissonEvents, thrown: unknown) {
    const error = new Error(
      `A listener of the ${event} event threw: ${(thrown as Error)?.message ?? thrown}`,
      {
        cause: thrown,
      },
    )
    if (event === 'error' || this.emitter.listenerCount('error') === 0)
      process.emitWarning(error.message, { code: 'RLOCK_LISTENER_THREW' })
    else this.error(error)
  }
}
