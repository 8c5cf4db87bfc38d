import { type Attributes, type Span, type SpanContext, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import type { Acquisition, Hold, Observer } from './messages'

/** The most holders to which one acquisition is linked. A semaphore may have thousands. */
const MOST_LINKS = 8

/** What this process knows of one key: who holds it, and who held it last. Dropped when nobody holds it or waits for it. */
interface Place {
  readonly holders: Map<Hold, SpanContext>
  waiting: number
  /** How many holds have ended, and the last of these. */
  ended: number
  last: SpanContext | undefined
}

interface Waiting {
  readonly span: Span
  readonly place: Place
  readonly endedBefore: number
  readonly linked: readonly SpanContext[]
}

/** A span for each acquisition, and a span for each hold. Parent of both is the span that is active where the code locks. */
export class LockSpans implements Observer {
  private readonly waiting = new Map<Acquisition, Waiting>()
  private readonly holding = new Map<Hold, Span>()
  private readonly places = new Map<string, Place>()

  constructor(
    private readonly tracer: Tracer,
    private readonly attributesOf: (message: { name: string; kind: string }) => Attributes,
    private readonly lockNames: boolean,
  ) {}

  waits(acquisition: Acquisition): void {
    const place = this.place(acquisition)
    place.waiting++
    const linked = [...place.holders.values()].slice(0, MOST_LINKS)
    const links = linked.map((context) => ({ context }))
    const span = this.tracer.startSpan('lock.acquire', { attributes: this.attributes(acquisition), links })
    this.waiting.set(acquisition, { span, place, endedBefore: place.ended, linked })
  }

  waited(acquisition: Acquisition): void {
    const waiting = this.waiting.get(acquisition)
    if (!waiting) return
    this.waiting.delete(acquisition)
    const { span, place, endedBefore, linked } = waiting
    const { last } = place
    // It also waited for a holder that came after its start.
    if (last && place.ended > endedBefore && !linked.includes(last)) span.addLink({ context: last })
    place.waiting--
    this.tidy(acquisition, place)
    const { outcome, error } = acquisition
    span.setAttribute('lock.outcome', outcome)
    if (outcome === 'error' || outcome === 'refused') this.failed(span, error)
    span.end()
  }

  holds(hold: Hold): void {
    const span = this.tracer.startSpan('lock.hold', { attributes: this.attributes(hold) })
    this.holding.set(hold, span)
    this.place(hold).holders.set(hold, span.spanContext())
  }

  held(hold: Hold): void {
    const span = this.holding.get(hold)
    if (!span) return
    this.holding.delete(hold)
    const place = this.place(hold)
    place.last = place.holders.get(hold)
    place.ended++
    place.holders.delete(hold)
    this.tidy(hold, place)
    span.setAttribute('lock.outcome', hold.outcome)
    if (hold.outcome === 'lost') {
      span.setAttribute('lock.reason', hold.reason ?? 'lease')
      this.failed(span, hold.error)
    }
    span.end()
  }

  close(): void {
    for (const { span } of this.waiting.values()) span.end()
    for (const span of this.holding.values()) span.end()
    this.waiting.clear()
    this.holding.clear()
    this.places.clear()
  }

  private attributes(message: Acquisition | Hold): Attributes {
    const attributes = this.attributesOf(message)
    return this.lockNames ? { ...attributes, 'lock.name': message.name } : attributes
  }

  /** The message of an error contains the name of the lock. */
  private failed(span: Span, error: unknown): void {
    const isError = error instanceof Error
    span.setAttribute('error.type', isError ? error.name : '_OTHER')
    span.setStatus({ code: SpanStatusCode.ERROR })
    if (this.lockNames && isError) span.recordException(error)
  }

  private place(message: Acquisition | Hold): Place {
    const id = idOf(message)
    let place = this.places.get(id)
    if (!place) {
      place = { holders: new Map(), waiting: 0, ended: 0, last: undefined }
      this.places.set(id, place)
    }
    return place
  }

  private tidy(message: Acquisition | Hold, place: Place): void {
    if (place.waiting === 0 && place.holders.size === 0) this.places.delete(idOf(message))
  }
}

/** Two servers may each have a lock of this name. */
function idOf({ address, key }: Acquisition | Hold): string {
  return `${address} ${key}`
}
