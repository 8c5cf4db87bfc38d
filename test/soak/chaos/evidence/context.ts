import type { Disturbances } from './disturbances'
import type { EvidenceRecord } from './records'

const REMEMBERED = 300

/** The last records of each lock, semaphore and latch, for people who look into a violation. */
export class Recent {
  private readonly byName = new Map<string, EvidenceRecord[]>()

  remember(record: EvidenceRecord): void {
    const records = this.byName.get(record.lock) ?? []
    this.byName.set(record.lock, records)
    records.push(record)
    if (records.length > REMEMBERED) records.shift()
  }

  of(name: string | undefined): readonly EvidenceRecord[] {
    return this.byName.get(name ?? '') ?? []
  }
}

/** What was recorded of a lock last, and what was broken meanwhile, oldest first; times in ms since `first`. */
export function contextOf(
  records: readonly EvidenceRecord[],
  disturbances: Disturbances,
  first: number,
): string[] {
  if (records.length === 0) return []
  const broken = disturbances.all.slice(-12).flatMap(({ kind, worker, from, to }) => [
    { at: from, text: `FAULT ${kind} ${worker ?? ''}` },
    { at: to, text: `FAULT ${kind} ${worker ?? ''} over` },
  ])
  return [...records.map((record) => ({ at: record.at, text: textOf(record) })), ...broken]
    .sort((a, b) => a.at - b.at)
    .map(({ at, text }) => `${Math.round((at - first) / 1000)} ${text}`)
}

function textOf({ event, worker, caller, side, turn, value, ok, error, lease }: EvidenceRecord): string {
  const more = [
    value === undefined ? '' : `=${value}`,
    ok ? 'ok' : '',
    error ?? '',
    lease ? `lease ${lease}` : '',
  ]
  return `${worker} ${caller} ${side} ${turn} ${event} ${more.filter(Boolean).join(' ')}`
}
