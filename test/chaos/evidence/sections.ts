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

const REMEMBERED = 300

/** Who waits for a lock, who is inside, and what its counter is, as the evidence has it so far. */
export class LockState {
  readonly waiting = new Map<string, Section>()
  readonly inside = new Map<string, Section>()
  counter = 0
  grants = 0
  /** Those that need the lock for themselves. */
  turns = 0
  /** When a worker was last told that its hold is lost. */
  readonly lastLost = new Map<string, number>()
  /** How often each worker came in. */
  readonly turnsBy = new Map<string, number>()
  /** Up to when a Java thread is known to have kept it through several of its turns. */
  keptByJavaUntil: number | undefined
  /** Since when it is free, where that is known. */
  freeSince: number | undefined

  /** The last records, for whoever looks into a violation. */
  readonly recent: { at: number; text: string }[] = []

  constructor(readonly name: string) {}

  remember({ at, event, worker, flow, side, turn, value, ok, error, lease }: EvidenceRecord): void {
    const more = [
      value === undefined ? '' : `=${value}`,
      ok ? 'ok' : '',
      error ?? '',
      lease ? `lease ${lease}` : '',
    ]
    this.recent.push({
      at,
      text: `${worker} ${flow} ${side} ${turn} ${event} ${more.filter(Boolean).join(' ')}`,
    })
    if (this.recent.length > REMEMBERED) this.recent.shift()
  }

  isInside(): boolean {
    return this.inside.size > 0
  }
}

export const keyOf = ({ worker, flow, side }: EvidenceRecord | Section): string => `${worker}|${flow}|${side}`
