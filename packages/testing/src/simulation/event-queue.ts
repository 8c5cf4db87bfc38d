import type { Event, EventOwner } from './trace'

/** The events to come, the next one first: a binary heap. */
export class EventQueue {
  private readonly heap: Event[] = []
  private planned = 0
  /** How many of the events in the heap were cancelled. */
  private cancelled = 0

  get size(): number {
    return this.heap.length - this.cancelled
  }

  *[Symbol.iterator](): Iterator<Event> {
    for (const event of this.heap) if (event.run) yield event
  }

  plan(
    time: number,
    process: EventOwner | undefined,
    run: () => void,
    latest = time,
    chain: unknown = process,
  ): Event {
    const event = { time, latest, chain, order: this.planned++, process, run, isPlanned: true }
    this.push(event)
    return event
  }

  cancel(event: Event): void {
    if (event.run && event.isPlanned) this.cancelled++
    event.run = undefined
  }

  take(): Event | undefined {
    for (;;) {
      const first = this.heap[0]
      if (!first) return undefined
      this.removeFirst()
      first.isPlanned = false
      if (first.run) return first
      this.cancelled--
    }
  }

  /**
   * What may happen next: the first event of each chain, unless another one has to happen before. In the order in which the
   * queue would take them.
   */
  possible(): Event[] {
    const first = new Map<unknown, Event>()
    let limit = Number.POSITIVE_INFINITY
    for (const event of this) {
      limit = Math.min(limit, event.latest)
      const before = first.get(event.chain)
      if (!before || comesBefore(event, before)) first.set(event.chain, event)
    }
    return [...first.values()]
      .filter(({ time }) => time <= limit)
      .sort((one, other) => (comesBefore(one, other) ? -1 : 1))
  }

  remove(event: Event): void {
    const { heap } = this
    const at = heap.indexOf(event)
    const last = heap.pop()!
    event.isPlanned = false
    if (last === event) return
    heap[at] = last
    this.sinkFrom(at)
    this.riseFrom(at)
  }

  private push(event: Event) {
    this.heap.push(event)
    this.riseFrom(this.heap.length - 1)
  }

  private riseFrom(start: number) {
    const { heap } = this
    const event = heap[start]!
    let at = start
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!comesBefore(event, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = event
  }

  private removeFirst() {
    const { heap } = this
    const last = heap.pop()!
    if (heap.length === 0) return
    heap[0] = last
    this.sinkFrom(0)
  }

  private sinkFrom(start: number) {
    const { heap } = this
    const last = heap[start]!
    let at = start
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && comesBefore(heap[child + 1]!, heap[child]!)) child++
      if (!comesBefore(heap[child]!, last)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
  }
}

function comesBefore(one: Event, other: Event): boolean {
  return one.time === other.time ? one.order < other.order : one.time < other.time
}
