import { endOf } from '../judge/faults'
import type { FaultInjected, History } from '../judge/history'
import { ownerOf } from '../judge/holds'
import { Reading } from '../judge/reading'
import type { Violation } from '../judge/violation'

export interface TimelineTheme {
  readonly name: 'light' | 'dark'
  readonly background: string
  readonly text: string
  readonly faint: string
  readonly trouble: string
  /** Inside; one colour for each object. */
  readonly bars: readonly string[]
}

/** The colours of docs/evidence/charts. GitHub shows a page in either theme. */
export const TIMELINE_THEMES: readonly TimelineTheme[] = [
  {
    ...{ name: 'light', background: '#ffffff', text: '#1f2328', faint: '#d1d9e0', trouble: '#cf222e' },
    bars: ['#0969da', '#bc4c00', '#8250df', '#1a7f37', '#bf3989', '#9a6700'],
  },
  {
    ...{ name: 'dark', background: '#0d1117', text: '#e6edf3', faint: '#3d444d', trouble: '#ff7b72' },
    bars: ['#4493f8', '#f0883e', '#ab7df8', '#3fb950', '#db61a2', '#d29922'],
  },
]

const FONT = 'system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif'
const [WIDTH, LABELS, LANE, TOP, BAR] = [900, 110, 26, 44, 14]
const MOST_LANES = 24
/** Drawn around the events that show the violation, as a part of their time. */
const AROUND = 0.5

interface Span {
  readonly from: number
  readonly to: number
}

/** One lane for each owner: hatched while it waits, filled while it is inside. Faults are bands across all lanes. */
export function drawTimeline(
  history: History,
  violation: Violation | undefined,
  theme: TimelineTheme,
): string {
  const reading = new Reading(history)
  const shown = spanOf(reading, violation)
  const calls = [...reading.calls.values()].filter(({ called, begin, end }) => {
    const to = end === undefined ? reading.lastTime : reading.timeOf(end)
    return called.operation === 'acquire' && reading.timeOf(begin) <= shown.to && to >= shown.from
  })
  const owners = lanesOf(reading, violation, [
    ...calls.map(({ called }) => ownerOf(called)),
    ...reading.holds.filter((hold) => isIn(shown, spanInside(reading, hold))).map(({ owner }) => owner),
  ])
  const names = history.objects.map(({ name }) => name)
  const height = TOP + owners.length * LANE + 30
  const x = (at: number) => {
    const part =
      (Math.min(Math.max(at, shown.from), shown.to) - shown.from) / Math.max(1e-9, shown.to - shown.from)
    return LABELS + part * (WIDTH - LABELS - 12)
  }
  const y = (owner: string) => TOP + owners.indexOf(owner) * LANE + (LANE - BAR) / 2
  const bar = ({ from, to }: Span, owner: string, fill: string, title: string) =>
    `<rect x="${fixed(x(from))}" y="${y(owner)}" width="${fixed(Math.max(1, x(to) - x(from)))}" height="${BAR}" rx="2" ` +
    `fill="${fill}"><title>${escaped(title)}</title></rect>`
  const parts: string[] = []
  reading.faults.all
    .filter((fault) => isIn(shown, { from: fault.at, to: fault.until ?? fault.at }))
    .forEach((fault, index) => {
      parts.push(...faultBand(fault, x, height, index, theme))
    })
  for (const owner of owners) {
    const middle = y(owner) + BAR / 2
    parts.push(
      `<path d="M${LABELS} ${middle}H${WIDTH - 12}" stroke="${theme.faint}"/>`,
      text(LABELS - 8, middle, owner, theme.text, 'end'),
    )
  }
  for (const { called, begin, end } of calls) {
    if (!owners.includes(ownerOf(called))) continue
    const span = {
      from: reading.timeOf(begin),
      to: end === undefined ? reading.lastTime : reading.timeOf(end),
    }
    parts.push(bar(span, ownerOf(called), 'url(#waits)', `waits for ${called.object.name}`))
  }
  for (const hold of reading.holds) {
    const span = spanInside(reading, hold)
    if (!owners.includes(hold.owner) || !isIn(shown, span)) continue
    const colour = theme.bars[Math.max(0, names.indexOf(hold.call.object.name)) % theme.bars.length]!
    parts.push(bar(span, hold.owner, colour, `in ${hold.call.object.name}, ${hold.ending ?? 'to the end'}`))
  }
  if (violation) {
    const at = fixed(x(violation.at))
    parts.push(`<path d="M${at} ${TOP - 6}V${height - 24}" stroke="${theme.trouble}" stroke-width="2"/>`)
  }
  const title = violation
    ? `${violation.rule}: ${violation.what}`
    : `scene ${history.scene}, seed ${history.seed}`
  return [
    `<svg role="img" xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}">`,
    `<title>${escaped(title)}</title>`,
    `<defs><pattern id="waits" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">` +
      `<rect width="2" height="6" fill="${theme.text}" opacity="0.45"/></pattern></defs>`,
    `<rect width="${WIDTH}" height="${height}" fill="${theme.background}"/>`,
    text(
      12,
      16,
      title.length > 130 ? `${title.slice(0, 130)} …` : title,
      violation ? theme.trouble : theme.text,
      'start',
    ),
    ...parts,
    text(LABELS, height - 10, `${fixed(shown.from)} ms`, theme.text, 'start'),
    text(WIDTH - 12, height - 10, `${fixed(shown.to)} ms`, theme.text, 'end'),
    '</svg>',
  ].join('\n')
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

function faultBand(
  fault: FaultInjected,
  x: (at: number) => number,
  height: number,
  index: number,
  theme: TimelineTheme,
): string[] {
  const [from, to] = [x(fault.at), x(fault.until ?? fault.at)]
  const whom = fault.clients ? ` of ${fault.clients.join(', ')}` : ''
  const title = `${fault.kind}${whom}, recovered at ${fixed(endOf(fault))} ms`
  return [
    `<rect x="${fixed(from)}" y="${TOP - 6}" width="${fixed(Math.max(2, to - from))}" height="${height - TOP - 18}" ` +
      `fill="${theme.trouble}" opacity="0.18"><title>${escaped(title)}</title></rect>`,
    text(from + 2, 28 + (index % 2) * 10, fault.kind, theme.trouble, 'start', 9),
  ]
}

function text(x: number, y: number, what: string, fill: string, anchor: 'start' | 'end', size = 11): string {
  return (
    `<text x="${fixed(x)}" y="${fixed(y)}" dominant-baseline="central" text-anchor="${anchor}" fill="${fill}" ` +
    `style="font-size:${size}px;font-family:${FONT}">${escaped(what)}</text>`
  )
}

const fixed = (value: number) => String(Math.round(value * 10) / 10)
const escaped = (what: string) => what.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
