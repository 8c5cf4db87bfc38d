import type { Bar, Timeline } from '../../../../packages/cli/src/page/timeline'
import type { Disturbances } from './disturbances'
import type { EvidenceRecord } from './records'
import { processOf } from './sections'

/** What was recorded around a violation, to be drawn. Times in ms since the first record of the run. */
export interface Trace {
  readonly name: string
  readonly at: number
  readonly spans: readonly Span[]
  readonly bands: NonNullable<Timeline['bands']>
}

interface Span {
  readonly from: number
  readonly to: number
  /** A caller of a process. */
  readonly owner: string
  readonly process: string
  readonly waits: boolean
  readonly ending: string
}

const MOST_LANES = 24
/** So much is drawn around what was under way at that moment, in ms, and no more. */
const [AROUND, LONGEST] = [200, 10_000]
const SIZE = { width: 900, labels: 170, lane: 26 }

/** Who waited and who was inside, as the records say; undefined without records. Times of the arguments in µs. */
export function traceOf(
  records: readonly EvidenceRecord[],
  disturbances: Disturbances,
  { at, first }: { at: number; first: number },
): Trace | undefined {
  const last = records.at(-1)
  if (!last) return undefined
  const ms = (micros: number) => (micros - first) / 1000
  const spans: Span[] = []
  const open = new Map<string, { readonly from: number; readonly waits: boolean }>()
  const close = (record: EvidenceRecord, to: number, ending: string) => {
    const { worker, caller, side } = record
    const key = `${worker}|${caller}|${side}`
    const begun = open.get(key)
    open.delete(key)
    if (begun)
      spans.push({
        ...begun,
        to: ms(to),
        owner: `${worker} ${caller} (${side})`,
        process: processOf(worker),
        ending,
      })
  }
  const begin = (record: EvidenceRecord, waits: boolean) => {
    const { worker, caller, side } = record
    open.set(`${worker}|${caller}|${side}`, { from: ms(record.at), waits })
  }
  for (const record of records) {
    const { event } = record
    if (event === 'want' || event === 'in') {
      close(record, record.at, 'came in')
      begin(record, event === 'want')
    } else if (event === 'lost' || event === 'free' || event === 'quit')
      close(record, record.at, { lost: 'was told of its loss', free: 'released', quit: 'gave up' }[event])
  }
  const end = Math.max(at, last.at)
  for (const record of records) close(record, end, 'to the end')
  const bands = disturbances.all.map(({ kind, worker, from, to }) => ({
    ...{ from: ms(from), to: ms(Math.min(to, end)), label: kind },
    title: worker === undefined ? kind : `${kind} of ${worker}`,
  }))
  return { name: last.lock, at: ms(at), spans, bands: bands.filter(({ to }) => to >= ms(records[0]!.at)) }
}

/** What the renderer of the page and of the simulator draws: the callers of that moment first. */
export function timelineOf(
  { name, at, spans, bands }: Trace,
  what: string,
  colours: readonly string[],
): { readonly timeline: Timeline; readonly size: typeof SIZE } {
  const then = spans.filter(({ from, to }) => from <= at && to >= at)
  const from = Math.max(at - LONGEST, Math.min(at, ...then.map((span) => span.from)) - AROUND)
  const to = Math.min(at + LONGEST, Math.max(at, ...then.map((span) => span.to)) + AROUND)
  const shown = spans.filter((span) => span.from <= to && span.to >= from)
  // Those inside come before those that wait.
  const involved = then.toSorted(
    (one, other) => Number(one.waits) - Number(other.waits) || one.from - other.from,
  )
  const owners = [...new Set([...involved, ...shown].map(({ owner }) => owner))].slice(0, MOST_LANES)
  const processes = [...new Set(spans.map(({ process }) => process))].sort()
  const bar = (span: Span): Bar => ({
    ...{ from: span.from, to: span.to, waits: span.waits },
    colour: colours[processes.indexOf(span.process) % colours.length]!,
    title: `${span.waits ? 'waits for' : 'in'} ${name}, ${span.ending}`,
  })
  const lanes = owners.map((label) => ({
    label,
    bars: shown.filter(({ owner }) => owner === label).map(bar),
  }))
  const ends = [`${Math.round(from)} ms`, `${Math.round(to)} ms`] as const
  return { timeline: { title: what, isTrouble: true, from, to, ends, lanes, bands, moment: at }, size: SIZE }
}

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
