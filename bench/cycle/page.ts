import type { Machine } from '../driver/machine'
import { shown, table } from '../report/markdown'
import type { HandoffRow } from './handoffs'
import type { LayerRow, LayerRows } from './layer-rows'

/** What npm run bench:cycle keeps. */
export interface Results {
  readonly date: string
  readonly command: string
  readonly machine: Machine
  readonly node: string
  readonly rounds: number
  readonly windowMs: number
  readonly layers: LayerRows
  readonly handoffs: readonly HandoffRow[]
}

/** By the names of the regions in the page. */
export const CONTENTS: Readonly<Record<string, (results: Results) => string>> = {
  'cycle-layers'({ date, command, machine, node, rounds, windowMs, layers }) {
    const { cpu, cores, load } = machine
    return [
      layerTable(['two round trips:', 'µs a cycle', 'of the limit'], layers.cycle),
      '',
      `\`${command}\`, ${date.slice(0, 10)}; ${cpu}, ${cores} cores, load before ${load}, Node ${node}; medians of ${rounds} rounds of ` +
        `${windowMs} ms. A whole lock was at ${shown(layers.cycle.at(-1)!.ofLimit, 2)} of the limit.`,
    ].join('\n')
  },
  // The limit has two round trips to a section.
  'cycle-one-lock': ({ layers }) => sentence(layers.handoff, 2),
  'cycle-ways': ({ layers }) => sentence(layers.ways),
  'cycle-handoff': ({ handoffs }) =>
    handoffs
      .map(
        ({ title, p50Ms, roundTrips }) => `- ${title}: ${shown(p50Ms, 2)} ms, ${shown(roundTrips, 1)} PINGs`,
      )
      .join('\n'),
}

/** The rows beside the first one. */
function sentence(rows: readonly LayerRow[], times = 1): string {
  return rows
    .map(
      ({ title, cycleUs, ofLimit }) =>
        `- ${title}: ${cycleUs.median.toFixed(0)} µs, ${(times * ofLimit.median).toFixed(2)}`,
    )
    .join('\n')
}

function layerTable(head: readonly string[], rows: readonly LayerRow[]): string {
  const lines = rows.map(({ title, cycleUs, ofLimit }) => [
    title,
    cycleUs.median.toFixed(0),
    ofLimit.median.toFixed(2),
  ])
  return table([[...head], ...lines])
}
