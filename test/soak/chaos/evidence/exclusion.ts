import type { Disturbance, Disturbances } from './disturbances'
import { judge, type Overlap, type OverlapVerdict } from './overlaps'
import { ms, type Section, who } from './sections'

interface Decided extends Overlap {
  readonly verdict: OverlapVerdict
  readonly cause: Disturbance | undefined
}

interface LostUpdate {
  readonly section: Section
  readonly at: number
  readonly what: string
}

/** Finds sections that overlap though they exclude each other, and what they wrote over. */
export class Exclusion {
  private undecided: Overlap[] = []
  /** Sections that took part in an overlap which is excused: what they overwrote is excused with it. */
  private readonly excused = new Set<Section>()
  private readonly lostUpdates: LostUpdate[] = []

  constructor(private readonly disturbances: Disturbances) {}

  /** The second came in while the first had not ended. */
  met(first: Section, second: Section): void {
    this.undecided.push({ first, second })
  }

  wrote(section: Section, value: number, counter: number, at: number): void {
    if (value === counter + 1) return
    const what = `${who(section)} wrote ${value} to ${section.lock} where ${counter} was`
    this.lostUpdates.push({ section, at, what })
  }

  /** What can be said by now, each once. */
  look(): Decided[] {
    const decided = this.undecided.map((overlap) => ({ ...overlap, ...judge(overlap, this.disturbances) }))
    this.undecided = this.undecided.filter((_, i) => decided[i]!.verdict === 'open')
    for (const { first, second, verdict } of decided)
      if (!['open', 'reported', 'violation'].includes(verdict)) this.excused.add(first).add(second)
    return decided.filter(({ verdict }) => verdict !== 'open')
  }

  /** All records are in: whose last word is missing was inside to the very end. */
  finish(): Decided[] {
    for (const { first, second } of this.undecided) first.outAt ??= second.inAt
    return this.look()
  }

  /** To be asked when every overlap is decided. */
  lost(): (LostUpdate & { readonly excused: boolean })[] {
    return this.lostUpdates.map((lost) => ({ ...lost, excused: this.excused.has(lost.section) }))
  }
}

export function describeOverlap({ first, second }: Overlap): string {
  const reported =
    first.lostAt === undefined ? 'never reported' : `reported ${ms(first.lostAt - second.inAt)} later`
  return (
    `${who(second)} came into ${first.lock} ${ms(second.inAt - first.inAt)} after ${who(first)}, who was ${reported}` +
    (first.wrote ? ' and wrote' : '')
  )
}
