import type { EvidenceRecord, Side } from './records'

/** One turn of a caller, from its record `want` on. */
export interface Section {
  readonly worker: string
  readonly caller: string
  readonly lock: string
  readonly side: Side
  readonly lease: number | undefined
  readonly wantAt: number
  inAt: number
  lostAt: number | undefined
}

export const together = (a: Side, b: Side): boolean => a === 'r' && b === 'r'

export const isJava = (worker: string): boolean => worker.startsWith('java')

/** What a worker and those that took its place after it was killed have in common. */
export const processOf = (worker: string): string => worker.replace(/'.*/, '')

/** Who waits for a lock and who is inside, as the evidence has it so far. */
export class LockState {
  readonly waiting = new Map<string, Section>()
  readonly inside = new Map<string, Section>()
  grants = 0
  /** When a loss was last reported to a worker. */
  readonly lastLost = new Map<string, number>()
  /** How often each worker came in. */
  readonly turnsBy = new Map<string, number>()
  /** Up to when its key is known to be that of a process which lost the hold, or cannot release it. */
  leftToLeaseUntil: number | undefined
  /** It is several locks at once. */
  ofSeveral = false
  /** For how long (µs) a caller may keep it that waits for another member of a multi lock: what the guide says. */
  keptForMembers = 0
  /** Since when it is free, where that is known. */
  freeSince: number | undefined

  constructor(readonly name: string) {}

  isInside(): boolean {
    return this.inside.size > 0
  }
}

export const keyOf = ({ worker, caller, side }: EvidenceRecord | Section): string =>
  `${worker}|${caller}|${side}`

/** The section that begins with this record. */
export function begun({ worker, caller, lock, side, lease, at }: EvidenceRecord): Section {
  return {
    ...{ worker, caller, lock, side, lease, wantAt: at, inAt: at },
    lostAt: undefined,
  }
}

export const who = ({ worker, caller, side }: Section): string => `${worker} ${caller} (${side})`

export const ms = (micros: number): string => `${Math.round(micros / 1000)} ms`
