import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import {
  type Attributes,
  diag,
  type MeterProvider,
  metrics,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import type { Acquisition, Hold, Observer, Renewal } from './messages'
import { LockMetrics } from './metrics'
import { LockSpans } from './spans'

const SCOPE = '@rlock/opentelemetry'

/** What `instrument()` takes. */
export interface InstrumentOptions {
  /** Makes the spans. Default: the global provider. */
  readonly tracerProvider?: TracerProvider | undefined
  /** Makes the instruments. Default: the global provider. */
  readonly meterProvider?: MeterProvider | undefined
  /**
   * Returns the value of `lock.group` for a lock, for instance `order` for `order:42`. Return one of few values: each value is a time
   * series. With `undefined`, or without this function, there is no such attribute.
   */
  readonly group?: ((name: string, kind: string) => string | undefined) | undefined
  /** Whether spans have the name of the lock, and the messages of errors, which contain it. Metrics never do. Default false. */
  readonly lockNames?: boolean | undefined
}

/** What `instrument()` returns. */
export interface Instrumentation {
  /** Stops to observe. Open spans end, and the up-down counters go back to what is known. A second call does nothing. */
  disable(): void
  /** Calls `disable()`. */
  [Symbol.dispose](): void
}

/**
 * Observes every rlock client of this process, until `disable()`: makes a span for each acquisition and each hold, and measures
 * waits, holds, losses and renewals. Acquisitions and holds that began before this call are not observed.
 */
export function instrument(options: InstrumentOptions = {}): Instrumentation {
  const { tracerProvider = trace.getTracerProvider(), meterProvider = metrics.getMeterProvider() } = options
  const attributesOf = ({ name, kind }: { name: string; kind: string }): Attributes => {
    const group = groupOf(options, name, kind)
    return group === undefined ? { 'lock.kind': kind } : { 'lock.kind': kind, 'lock.group': group }
  }
  const observers: Observer[] = [
    new LockMetrics(meterProvider.getMeter(SCOPE), attributesOf),
    new LockSpans(tracerProvider.getTracer(SCOPE), attributesOf, options.lockNames === true),
  ]
  const subscriptions = [
    observe<Acquisition>('tracing:rlock:acquire:start', observers, (each, message) => each.waits(message)),
    observe<Acquisition>('tracing:rlock:acquire:asyncEnd', observers, (each, message) =>
      each.waited(message),
    ),
    observe<Hold>('tracing:rlock:hold:start', observers, (each, message) => each.holds(message)),
    observe<Hold>('tracing:rlock:hold:asyncEnd', observers, (each, message) => each.held(message)),
    observe<Renewal>('rlock:renew', observers, (each, message) => each.renewed?.(message)),
  ]
  const disable = () => {
    for (const unsubscribe of subscriptions.splice(0)) unsubscribe()
    for (const observer of observers.splice(0)) observer.close()
  }
  return { disable, [Symbol.dispose]: disable }
}

function groupOf({ group }: InstrumentOptions, name: string, kind: string): string | undefined {
  try {
    return group?.(name, kind)
  } catch (error) {
    diag.error(`${SCOPE}: the group function threw`, error)
    return undefined
  }
}

/** Returns a function that ends the subscription. */
function observe<Message>(
  name: string,
  observers: readonly Observer[],
  notify: (observer: Observer, message: Message) => void,
): () => void {
  const listener = (message: unknown) => {
    for (const observer of observers)
      try {
        notify(observer, message as Message)
      } catch (error) {
        // Thrown from here it would be an uncaught exception.
        diag.error(`${SCOPE}: ${name} could not be observed`, error)
      }
  }
  subscribe(name, listener)
  return () => unsubscribe(name, listener)
}
