import type { CyclesResult, Footprint, HeldResult, Phase, Result, WaitersResult } from './messages'

/** One figure, and whether it is what it must be; `kept` is undefined where nothing is asked of it. */
export interface Row {
  readonly what: string
  readonly figure: string
  readonly bound?: string
  readonly kept?: boolean
}

/** What must be kept. The smoke test bends some of them: a short run on a busy machine is noisier. */
export interface Bounds {
  /** Growth of the heap, in bytes. */
  readonly heapGrowth: number
  /** p99.9 of the delay of the event loop while locks are renewed, in ms. */
  readonly renewingDelay: number
  /** The longest processor time of one of its turns then, where that is asked for. */
  readonly renewingTurn?: number
  /** The longest delay while as many locks are taken or released, in ms. */
  readonly longestStall: number
}

export const BOUNDS: Bounds = { heapGrowth: 1_000_000, renewingDelay: 20, longestStall: 250 }

export function rowsOf(result: Result, bounds: Bounds): Row[] {
  if (result.part === 'cycles') return cyclesRows(result, bounds)
  return result.part === 'waiters' ? waitersRows(result, bounds) : heldRows(result, bounds)
}

function row(what: string, figure: string, bound?: string, kept?: boolean): Row {
  return { what, figure, ...(bound !== undefined && { bound }), ...(kept !== undefined && { kept }) }
}

function cyclesRows(result: CyclesResult, bounds: Bounds): Row[] {
  const { work, count, of } = result
  return [
    row(`cycles over distinct names of ${of}`, `${count} in ${seconds(work.seconds)}`),
    row('processor, share of one core', percent(work.cpu)),
    ...remainsRows(result.before, result.after, bounds),
  ]
}

function waitersRows(result: WaitersResult, bounds: Bounds): Row[] {
  const { count, waiting, acquired, timedOut, aborted, joining, serving } = result
  // Besides the PINGs that look after the subscription, two a client at most in that time.
  const commands = 4
  return [
    row('waiters on one lock', `${count}`),
    row('event loop while they join', delays(joining)),
    must('channels subscribed while they wait', waiting.server.channels, 1),
    must('connections while they wait', waiting.server.connections, result.before.server.connections),
    row(
      `commands in ${seconds(waiting.seconds)} while they wait`,
      `${waiting.commands}`,
      `at most ${commands}`,
      waiting.commands <= commands,
    ),
    must('listeners more while they wait', result.listenersWhileWaiting - result.before.listeners, 1),
    row(
      'acquired, timed out, aborted',
      `${acquired}, ${timedOut}, ${aborted}`,
      'all of them',
      acquired + timedOut + aborted === count && aborted > 0 && timedOut > 0,
    ),
    row('serving them one after the other', `${seconds(serving.seconds)}; event loop ${delays(serving)}`),
    ...remainsRows(result.before, result.after, bounds),
  ]
}

function heldRows(result: HeldResult, bounds: Bounds): Row[] {
  const { count, leases, lease, acquiring, renewing, catchingUp, releasing, server } = result
  return [
    row('held', `${count}`),
    ...stallRows('acquiring', acquiring, bounds),
    row('renewed', `${seconds(renewing.seconds)}, ${leases} leases of ${lease / 1_000} s`),
    ...renewingRows('while renewing', renewing, bounds),
    ...renewingRows('when all are due at once', catchingUp, bounds),
    row('processor while renewing, share of one core', percent(renewing.cpu)),
    must('lost', result.lost, 0),
    must('renewals that failed or were overdue', result.renewalsFailed, 0),
    must('still held at the end', result.stillHeld, count),
    must('keys in Redis at the end', server.keys, count),
    row(
      'least left of a lease at the end',
      `${server.leastLeft} ms`,
      `over ${Math.round(lease / 2)} ms`,
      server.leastLeft > lease / 2,
    ),
    row(
      'renewals, scripts, locks in each',
      `${server.renewals}, ${server.scripts}, ${(server.renewals / server.scripts).toFixed(0)}`,
    ),
    row('processor of the server, share of one core', percent(server.cpu)),
    row('heap for a held lock', `${result.bytesAHold.toFixed(0)} bytes`),
    ...stallRows('releasing', releasing, bounds),
    ...remainsRows(result.before, result.after, bounds),
  ]
}

function renewingRows(when: string, phase: Phase, { renewingDelay, renewingTurn }: Bounds): Row[] {
  return [
    row(
      `event loop ${when}`,
      delays(phase),
      `p99.9 under ${renewingDelay} ms`,
      phase.delay.p999 < renewingDelay,
    ),
    {
      what: 'processor time of its turns',
      figure: turnsOf(phase),
      ...(renewingTurn !== undefined && {
        bound: `none over ${renewingTurn} ms`,
        kept: phase.turns.max <= renewingTurn,
      }),
    },
  ]
}

function stallRows(what: string, phase: Phase, { longestStall }: Bounds): Row[] {
  return [
    row(
      `${what}, 500 at a time`,
      `${seconds(phase.seconds)}; event loop ${delays(phase)}`,
      `never over ${longestStall} ms`,
      phase.delay.max < longestStall,
    ),
  ]
}

function remainsRows(before: Footprint, after: Footprint, { heapGrowth }: Bounds): Row[] {
  const grown = after.heapUsed - before.heapUsed
  return [
    row(
      'heap before, after',
      `${kilobytes(before.heapUsed)}, ${kilobytes(after.heapUsed)} (${grown < 0 ? '' : '+'}${kilobytes(grown)})`,
      `at most ${kilobytes(heapGrowth)} more`,
      grown <= heapGrowth,
    ),
    must('active handles', list(after.handles), list(before.handles)),
    must('listeners', after.listeners, before.listeners),
    must('left in the tables of the client', list(after.left), 'nothing'),
    must('keys in Redis', after.server.keys, 0),
    must('channels subscribed', after.server.channels, 0),
    must('connections', after.server.connections, before.server.connections),
  ]
}

function must(what: string, figure: number | string, wanted: number | string): Row {
  return { what, figure: `${figure}`, bound: `${wanted}`, kept: figure === wanted }
}

function delays({ delay }: Phase): string {
  const [a, b, c, d] = [delay.p50, delay.p99, delay.p999, delay.max].map((value) => value.toFixed(1))
  return `p50 ${a}, p99 ${b}, p99.9 ${c}, max ${d} ms`
}

function turnsOf({ turns }: Phase): string {
  return `p99.9 ${turns.p999.toFixed(1)}, max ${turns.max.toFixed(1)} ms`
}

const list = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .sort()
    .map(([name, count]) => `${count} ${name}`)
    .join(', ') || 'nothing'
const seconds = (value: number) => `${value.toFixed(1)} s`
const percent = (share: number) => `${(100 * share).toFixed(1)} %`
const kilobytes = (bytes: number) => `${Math.round(bytes / 1_000)} kB`

/** The rows as plain text that is a Markdown table as well. */
export function table(rows: readonly Row[]): string {
  const lines = rows.map(({ what, figure, bound, kept }) => [
    what,
    figure,
    bound ?? '',
    kept === undefined ? '' : kept ? 'kept' : 'MISSED',
  ])
  const cells = [['', 'figure', 'bound', ''], ...lines]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((line) => line[column]!.length)))
  const text = (line: readonly string[]) =>
    `| ${line.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  const rule = `| ${widths.map((width) => '-'.repeat(Math.max(width, 3))).join(' | ')} |`
  return [text(cells[0]!), rule, ...cells.slice(1).map(text)].join('\n')
}
