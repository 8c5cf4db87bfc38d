import type { Machine } from '../driver/machine'
import { table } from '../report/markdown'
import { type Ratio, shownRatio } from './turns'

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

const HEAD = ['no subscriber', 'CPU µs a cycle', 'to a build without the channels']

export function channelsTable({ command, date, machine, node, rounds, scenarios }: ChannelsResults): string {
  const rows = scenarios.map(({ title, cpuUs, cost }) => [title, cpuUs.toFixed(0), shownRatio(cost)])
  const { cpu, cores, load } = machine
  return [
    table([HEAD, ...rows]),
    '',
    `\`${command}\`, ${date.slice(0, 10)}; ${cpu}, ${cores} cores, load before ${load}, Node ${node}; medians of ${rounds} rounds and their 95 % intervals.`,
  ].join('\n')
}
