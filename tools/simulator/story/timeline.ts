import type { NamedTheme } from '../../../packages/cli/src/page/timeline'
import { type Bar, drawTimeline as draw, svgText } from '../../../packages/cli/src/page/timeline'
import { endOf } from '../judge/faults'
import type { FaultInjected, History } from '../judge/history'
import { ownerOf } from '../judge/holds'
import { Reading } from '../judge/reading'
import type { Violation } from '../judge/violation'

const SIZE = { width: 900, labels: 110, lane: 26 }
const MOST_LANES = 24
/** Drawn around the events that show the violation, as a part of their time. */
const AROUND = 0.5

interface Span {
  readonly from: number
  readonly to: number
}

/** One lane for each owner: hatched while it waits, filled while it is inside. Faults are bands across all lanes. */
export function drawTimeline(history: History, violation: Violation | undefined, theme: NamedTheme): string {
  const reading = new Reading(history)
  const shown = spanOf(reading, violation)
  const names = history.objects.map(({ name }) => name)
  const colourOf = (name: string) => theme.bars[Math.max(0, names.indexOf(name)) % theme.bars.length]!
  const bars: (Bar & { readonly owner: string })[] = []
  for (const { called, begin, end } of reading.calls.values()) {
    if (called.operation !== 'acquire') continue
    const { name } = called.object
    const span = {
      from: reading.timeOf(begin),
      to: end === undefined ? reading.lastTime : reading.timeOf(end),
    }
    if (!isIn(shown, span)) continue
    const [waits, title] = [true, `waits for ${name}`]
    bars.push({ ...span, owner: ownerOf(called), colour: colourOf(name), waits, title })
  }
  for (const hold of reading.holds) {
    const span = spanInside(reading, hold)
    if (!isIn(shown, span)) continue
    const { name } = hold.call.object
    const title = `in ${name}, ${hold.ending ?? 'to the end'}`
    bars.push({ ...span, owner: hold.owner, colour: colourOf(name), label: name, title })
  }
  const owners = lanesOf(
    reading,
    violation,
    bars.map(({ owner }) => owner),
  )
  const title = violation
    ? `${violation.rule}: ${violation.what}`
    : `scene ${history.scene}, seed ${history.seed}`
  const drawn = {
    ...{ title, isTrouble: violation !== undefined, moment: violation?.at },
    ...{ ...shown, ends: [`${fixed(shown.from)} ms`, `${fixed(shown.to)} ms`] as const },
    lanes: owners.map((label) => ({ label, bars: bars.filter(({ owner }) => owner === label) })),
    bands: reading.faults.all.map(bandOf),
  }
  return svgText(draw(drawn, theme, SIZE))
}

function spanOf(reading: Reading, violation: Violation | undefined): Span {
  if (!violation) return { from: 0, to: reading.lastTime }
  const times = [violation.at, ...violation.events.map((index) => reading.timeOf(index))]
  const [first, last] = [Math.min(...times), Math.max(...times)]
  const around = Math.max(20, (last - first) * AROUND)
  return { from: Math.max(0, first - around), to: Math.min(reading.lastTime, last + around) }
}

/** The owners that show the violation come first. */
function lanesOf(reading: Reading, violation: Violation | undefined, owners: readonly string[]): string[] {
  const involved = (violation?.events ?? []).flatMap((index) => {
    const event = reading.history.events[index]
    const id = event && 'id' in event ? event.id : undefined
    const called = id === undefined ? undefined : reading.calls.get(id)?.called
    return called ? [ownerOf(called)] : []
  })
  return [...new Set([...involved, ...owners])].slice(0, MOST_LANES)
}

function spanInside(
  reading: Reading,
  { enteredAt, leftAt }: { enteredAt: number; leftAt: number | undefined },
): Span {
  return {
    from: reading.timeOf(enteredAt),
    to: leftAt === undefined ? reading.lastTime : reading.timeOf(leftAt),
  }
}

const isIn = (shown: Span, { from, to }: Span) => from <= shown.to && to >= shown.from

function bandOf(fault: FaultInjected) {
  const whom = fault.clients ? ` of ${fault.clients.join(', ')}` : ''
  const title = `${fault.kind}${whom}, recovered at ${fixed(endOf(fault))} ms`
  return { from: fault.at, to: fault.until ?? fault.at, label: fault.kind, title }
}

const fixed = (value: number) => String(Math.round(value * 10) / 10)
