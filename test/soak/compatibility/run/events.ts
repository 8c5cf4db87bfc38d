import type { Failure, Tally } from './result'

/** One line of the reporter. */
export type TestEvent =
  | { readonly kind: 'pass' | 'pending'; readonly file: string | undefined; readonly title: string }
  | {
      readonly kind: 'fail'
      readonly file: string | undefined
      readonly title: string
      readonly message: string
    }
  | { readonly kind: 'end' }

/** Stands before each event, so that output of the tests is no event. */
export const EVENT_MARK = '@@test-event '

/** The event in a line of output, or undefined. */
export function eventIn(line: string): TestEvent | undefined {
  const at = line.indexOf(EVENT_MARK)
  return at < 0 ? undefined : (JSON.parse(line.slice(at + EVENT_MARK.length)) as TestEvent)
}

/** Tests that cannot run say so on stderr: `Pending: what (why)`. */
export function pendingReasonIn(line: string): string | undefined {
  return /^Pending[:,] (.+)$/.exec(line.trim())?.[1]
}

/** Counts the events by part. `partOf` tells the part of a file. */
export class EventTally {
  readonly #parts: Map<string, { passed: number; pending: number; failed: number }>
  readonly #failures: Failure[] = []
  #ended = false

  constructor(
    parts: readonly string[],
    private readonly partOf: (file: string) => string | undefined,
  ) {
    this.#parts = new Map(parts.map((part) => [part, { passed: 0, pending: 0, failed: 0 }]))
  }

  add(event: TestEvent): void {
    if (event.kind === 'end') {
      this.#ended = true
      return
    }
    const part = event.file === undefined ? undefined : this.partOf(event.file)
    if (event.kind === 'fail') this.#failures.push({ part, title: event.title, message: event.message })
    const counts = part === undefined ? undefined : this.#parts.get(part)
    if (counts) counts[event.kind === 'pass' ? 'passed' : event.kind === 'fail' ? 'failed' : 'pending']++
  }

  /** Whether the run came to its end: a run that broke off has not proven what it has not run. */
  get ended(): boolean {
    return this.#ended
  }

  get failures(): readonly Failure[] {
    return this.#failures
  }

  get parts(): Record<string, Tally> {
    return Object.fromEntries(this.#parts)
  }
}
