/** One choice that was not the default, as a run reports it and a later run may leave it out. */
export interface Choice {
  /** What it decides: the delays of one connection, the plan of one caller. */
  readonly stream: string
  /** Which choice of that stream. */
  readonly index: number
  /** From 1; 0 is the default of each choice: the shortest delay, no fault. */
  readonly value: number
}

/** The text by which a choice is left out of a later run. */
export function nameOf({ stream, index }: Choice): string {
  return `${stream}#${index}`
}

/**
 * All chance of a run. Each part of the world draws from a stream of its own, so that a choice that is left out changes none of
 * another stream.
 */
export class Choices {
  private readonly streams = new Map<string, Stream>()
  /** The choices that were not the default, in order; filled if the run records them. */
  readonly made: Choice[] = []

  constructor(
    readonly seed: number,
    private readonly isRecorded = false,
    /** The names of the choices that take their default instead. */
    readonly leftOut: ReadonlySet<string> = new Set(),
  ) {}

  stream(name: string): Stream {
    let stream = this.streams.get(name)
    if (!stream) {
      const isReplayed = this.isRecorded || this.leftOut.size > 0
      stream = isReplayed ? new ReplayedStream(this, name) : new Stream(hash(name, this.seed))
      this.streams.set(name, stream)
    }
    return stream
  }

  /** The value of this choice, unless it is left out. */
  decide(choice: Choice): number {
    if (this.leftOut.has(nameOf(choice))) return 0
    if (this.isRecorded) this.made.push(choice)
    return choice.value
  }
}

/** Random numbers from one seed: splitmix32, which is small and good enough for schedules. */
export class Stream {
  constructor(private state: number) {}

  /** From 0 up to 1. No choice that could be left out: for ids and jitter of the package. */
  fraction(): number {
    this.state = (this.state + 0x9e3779b9) | 0
    let mixed = this.state ^ (this.state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    mixed ^= mixed >>> 15
    return (mixed >>> 0) / 0x1_0000_0000
  }

  /** One of so many options: 0, which is the default, up to `options - 1`. */
  choose(options: number): number {
    return Math.floor(this.fraction() * options)
  }

  /** True with this probability; false is the default. */
  happens(probability: number): boolean {
    return this.weigh([1 - probability, probability]) === 1
  }

  /** The index of one of these weights, which need not add up to 1. The first is the default. */
  weigh(weights: readonly number[]): number {
    let sum = 0
    for (const weight of weights) sum += weight
    let rest = this.fraction() * sum
    for (let index = 0; index < weights.length; index++) {
      rest -= weights[index]!
      if (rest < 0) return index
    }
    return weights.length - 1
  }

  /** One of the elements. The first is the default. */
  pick<T>(elements: readonly T[]): T {
    return elements[this.choose(elements.length)]!
  }
}

/** Gives each choice a name. */
class ReplayedStream extends Stream {
  private drawn = 0

  constructor(
    private readonly choices: Choices,
    private readonly name: string,
  ) {
    super(hash(name, choices.seed))
  }

  override choose(options: number): number {
    return this.decide(super.choose(options))
  }

  override weigh(weights: readonly number[]): number {
    return this.decide(super.weigh(weights))
  }

  private decide(value: number): number {
    const index = this.drawn++
    return value === 0 ? 0 : this.choices.decide({ stream: this.name, index, value })
  }
}

/** FNV-1a, for short texts. */
export function hash(text: string, start = 0x811c9dc5): number {
  let value = start | 0
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  return value
}
