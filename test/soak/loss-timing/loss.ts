// npm run loss: how soon a holder learns that its lock is lost, and whether that is before another is let in.

import { writeFileSync } from 'node:fs'
import { optionsOrExit } from '../../kit/cli'
import { liveLine } from '../../kit/terminal/live-line'
import { type Fault, SENTINEL_FAULTS, STANDALONE_FAULTS } from './faults'
import { type Lane, sentinelLane, standaloneLane } from './lane'
import { type LossOptions, parseOptions, USAGE } from './options'
import { type Summary, summarize, table } from './report'
import { playRound, type Round } from './round'

const lanes: Lane[] = []

/** Plays all rounds of all faults on the lanes there are, whichever is free next. */
async function playAll<L extends Lane>(
  onLanes: readonly L[],
  faults: readonly Fault<L>[],
  { rounds, lease }: LossOptions,
  onRound: (fault: Fault<L>, round: Round) => void,
): Promise<Summary[]> {
  const played = new Map(faults.map((fault) => [fault, [] as Round[]]))
  const due = faults.flatMap((fault) => Array<Fault<L>>(rounds).fill(fault))
  await Promise.all(
    onLanes.map(async (lane) => {
      for (let fault = due.shift(); fault; fault = due.shift()) {
        const round = await playRound(lane, fault, lease)
        played.get(fault)!.push(round)
        onRound(fault, round)
      }
    }),
  )
  return [...played].map(([fault, its]) => summarize(fault, its))
}

async function measure(options: LossOptions): Promise<boolean> {
  const ofStandalone = STANDALONE_FAULTS.filter(({ id }) => options.only.has(id))
  const ofSentinel = SENTINEL_FAULTS.filter(({ id }) => options.only.has(id))
  const all: Round[] = []
  const line = liveLine(process.stderr)
  const total = (ofStandalone.length + ofSentinel.length) * options.rounds
  const onRound = ({ title }: { title: string }, round: Round) => {
    all.push(round)
    for (const problem of round.problems) line.keep(`${title}: ${problem}`)
    const gaps = all.flatMap(({ fault, signalToOther }) =>
      signalToOther === undefined || !isOrdered(fault) ? [] : [signalToOther],
    )
    const closest = gaps.length > 0 ? `, signal ahead by ${Math.round(Math.min(...gaps))} ms at least` : ''
    const wrong = all.filter(({ problems }) => problems.length > 0).length
    line.show(`${all.length} of ${total} rounds, ${wrong} wrong${closest} · ${title}`)
  }
  const isOrdered = (id: string) =>
    [...ofStandalone, ...ofSentinel].some(
      (fault) => fault.id === id && ['lost', 'either'].includes(fault.expects),
    )

  const count = ofStandalone.length > 0 ? options.lanes : 0
  const standalone = await Promise.all(Array.from({ length: count }, standaloneLane))
  lanes.push(...standalone)
  const summaries = await playAll(standalone, ofStandalone, options, onRound)
  if (ofSentinel.length > 0) {
    const sentinel = await sentinelLane()
    lanes.push(sentinel)
    summaries.push(...(await playAll([sentinel], ofSentinel, options, onRound)))
  }
  line.clear()
  console.log(table(summaries))
  if (options.json)
    writeFileSync(options.json, JSON.stringify({ lease: options.lease, summaries, rounds: all }, null, 1))
  return summaries.every(({ problems }) => problems.length === 0)
}

process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))

measure(optionsOrExit(parseOptions, USAGE))
  .then(
    (ok) => (ok ? 0 : 1),
    (error) => {
      console.error(error)
      return 1
    },
  )
  .then(async (code) => {
    await Promise.all(lanes.map((lane) => lane.stop()))
    process.exit(code)
  })
