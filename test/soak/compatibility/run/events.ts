import type { Failure, Tally } from './result'

/** One line of the reporter. */
export type TestEvent =
  | {
      readonly kind: 'pass' | 'pending'
      readonly file: string | undefined
      readonly title: string
      /** How long it took, for a look at the log. */
      readonly ms?: number | undefined
    }
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

interface FileEvents {
  passed: number
  pending: number
  readonly failures: Failure[]
}

/** Counts the events of a run, by file. */
export class EventTally {
  readonly #files = new Map<string | undefined, FileEvents>()
  #ended = false

  /** `partOf` tells the part of a file. */
  constructor(
    private readonly parts: readonly string[],
    private readonly partOf: (file: string) => string | undefined,
  ) {}

  add(event: TestEvent): void {
    if (event.kind === 'end') {
      this.#ended = true
      return
    }
    const { file, title } = event
    const events = this.#files.get(file) ?? { passed: 0, pending: 0, failures: [] }
    this.#files.set(file, events)
    if (event.kind === 'fail')
      events.failures.push({ part: this.#partOf(file), title, message: event.message })
    else if (event.kind === 'pass') events.passed++
    else events.pending++
  }

  /** Puts what the files did in a second run in place of what they did in this one. */
  replaceBy(second: EventTally): void {
    for (const [file, events] of second.#files) this.#files.set(file, events)
  }

  /** Whether the run came to its end: a run that broke off has not proven what it has not run. */
  get ended(): boolean {
    return this.#ended
  }

  get failures(): Failure[] {
    return [...this.#files.values()].flatMap(({ failures }) => failures)
  }

  /** Files with a failure. A failure without a file cannot be repeated. */
  get failedFiles(): string[] {
    return [...this.#files].flatMap(([file, { failures }]) => (file && failures.length > 0 ? [file] : []))
  }

  get tallies(): Record<string, Tally> {
    const tallyOf = (part: string): Tally => {
      const its = [...this.#files].filter(([file]) => this.#partOf(file) === part).map(([, events]) => events)
      const sum = (count: (events: FileEvents) => number) =>
        its.reduce((all, events) => all + count(events), 0)
      return {
        passed: sum(({ passed }) => passed),
        pending: sum(({ pending }) => pending),
        failed: sum(({ failures }) => failures.length),
      }
    }
    return Object.fromEntries(this.parts.map((part) => [part, tallyOf(part)]))
  }

  #partOf(file: string | undefined): string | undefined {
    return file === undefined ? undefined : this.partOf(file)
  }
}
