import type { EvidenceRecord, Side } from './records'

/** One turn of a flow, from its record `want` on. */
export interface Section {
  readonly worker: string
  readonly flow: string
  readonly lock: string
  readonly side: Side
  readonly lease: number | undefined
  readonly wantAt: number
  inAt: number
  lostAt: number | undefined
  outAt: number | undefined
  /** It wrote the counter. */
  wrote: boolean
  /** When its process was killed inside. */
  killedAt: number | undefined
}

export const together = (a: Side, b: Side): boolean => a === 'r' && b === 'r'

export const isJava = (worker: string): boolean => worker.startsWith('java')

/** Who waits for a lock, who is inside, and what its counter is, as the evidence has it so far. */
export class LockState {
  readonly waiting = new Map<string, Section>()
  readonly inside = new Map<string, Section>()
  counter = 0
  grants = 0
  /** Those that found nobody inside. */
  turns = 0
  /** Since when it is free, where that is known. */
  freeSince: number | undefined

  constructor(readonly name: string) {}

  isInside(): boolean {
    return this.inside.size > 0
  }
}

export const keyOf = ({ worker, flow, side }: EvidenceRecord | Section): string => `${worker}|${flow}|${side}`
