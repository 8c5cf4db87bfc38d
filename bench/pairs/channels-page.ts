import type { Machine } from '../driver/machine'
import { table } from '../report/markdown'

/** In the order in which they are loaded. Each build is there twice, which shows what is noise. */
export const ARMS = ['without', 'now', 'again', 'withoutAgain'] as const
export type Arm = (typeof ARMS)[number]

/** A median of ratios, and between what it is with 95 % certainty. */
export interface Ratio {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** What bench/pairs/channels.ts writes into bench/results/channels.json. */
export interface ChannelsResults {
  readonly command: string
  readonly date: string
  readonly machine: Machine
  readonly node: string
  readonly rounds: number
  readonly scenarios: readonly {
    readonly title: string
    /** CPU of this process, in µs a cycle: the median. */
    readonly cpuUs: number
    /** Of the CPU in one round: both of this build to both without the channels. */
    readonly cost: Ratio
    /** Each build to itself. */
    readonly noise: readonly [now: Ratio, without: Ratio]
  }[]
}

export function ratioOf(ratios: readonly number[]): Ratio {
  const sorted = [...ratios].sort((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  // The ranks between which the median of the whole population lies, by the normal approximation.
  const apart = 0.98 * Math.sqrt(sorted.length)
  const at = (rank: number) => sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(rank)))]!
  return { median: at(middle), low: at(middle - apart), high: at(middle + apart) }
}

const HEAD = [
  'no subscriber',
  'CPU µs a cycle',
  'to a build without the channels',
  'this build to itself',
  'that one to itself',
]

export function channelsTable({ command, date, machine, node, rounds, scenarios }: ChannelsResults): string {
  const shown = ({ median, low, high }: Ratio) =>
    `${median.toFixed(3)} (${low.toFixed(3)}–${high.toFixed(3)})`
  const rows = scenarios.map(({ title, cpuUs, cost, noise }) => [
    title,
    cpuUs.toFixed(0),
    shown(cost),
    ...noise.map(shown),
  ])
  const { cpu, cores, load } = machine
  return [
    table([HEAD, ...rows]),
    '',
    `${date.slice(0, 10)}; ${cpu}, ${cores} cores, load before ${load}, Node ${node}; medians of ${rounds} rounds in one process, with their ` +
      `95 % intervals. Command: \`${command}\`.`,
  ].join('\n')
}
