import type { Event, EventOwner } from './timeline'

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

  plan(time: number, process: EventOwner | undefined, run: () => void): Event {
    const event = { time, order: this.planned++, process, run, isPlanned: true }
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

  private push(event: Event) {
    const { heap } = this
    let at = heap.length
    heap.push(event)
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
    let at = 0
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
