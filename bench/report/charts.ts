import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchRun } from '../driver/bench-run'
import { SUBJECTS, type Subject } from '../subjects/catalogue'
import { type Bar, barPanels, type Panel } from './bar-panels'
import { THEMES, type Theme } from './chart-themes'
import { lineChart } from './line-chart'
import { summaryOf } from './summary'

const PROCESS_COUNTS = [1, 2, 4, 8, 16]

interface Chart {
  /** Drawn where any of these was measured. */
  readonly scenarios: readonly string[]
  draw(run: BenchRun, theme: Theme): string
}

const CHARTS: Readonly<Record<string, Chart>> = {
  throughput: {
    scenarios: ['one-caller', 'many-locks', 'one-process', 'four-processes'],
    draw: (run, theme) =>
      barPanels(
        'Sections a second, as a ratio of two trivial EVALSHA calls over the same client (dashed)',
        [
          throughputPanel(run, 'one-caller', 'one caller alone'),
          throughputPanel(run, 'many-locks', '64 callers, 64 locks'),
          throughputPanel(run, 'one-process', '50 callers, one lock'),
          throughputPanel(run, 'four-processes', '4 processes × 4, one lock'),
        ],
        theme,
      ),
  },
  fairness: {
    scenarios: ['one-process', 'four-processes'],
    draw: (run, theme) =>
      barPanels(
        'Who contends for one lock: the p99 wait, and what the least served gets of its fair share',
        [
          panel(run, 'one-process', 'waitP99Ms', {
            title: '50 callers',
            subtitle: 'p99 wait, ms',
            digits: 1,
            scale: 'log',
          }),
          panel(run, 'one-process', 'leastCallerShare', {
            title: '50 callers',
            subtitle: 'least share',
            digits: 2,
            scale: 'value',
          }),
          panel(run, 'four-processes', 'waitP99Ms', {
            title: '4 × 4 callers',
            subtitle: 'p99 wait, ms',
            digits: 1,
            scale: 'log',
          }),
          panel(run, 'four-processes', 'leastCallerShare', {
            title: '4 × 4 callers',
            subtitle: 'least share',
            digits: 2,
            scale: 'value',
          }),
        ],
        theme,
      ),
  },
  processes: processesChart('What is left of the throughput', 'sections a second', 'rateAt'),
}

export const CHART_NAMES = Object.keys(CHARTS)

/** Writes each chart that the run has figures for, for each theme. */
export function writeCharts(run: BenchRun, directory: string): void {
  const measured = new Set(run.measurements.map(({ scenario }) => scenario))
  const drawn = Object.entries(CHARTS).filter(([, { scenarios }]) =>
    scenarios.some((one) => measured.has(one)),
  )
  if (drawn.length === 0) return
  mkdirSync(directory, { recursive: true })
  for (const [name, chart] of drawn)
    for (const theme of THEMES)
      writeFileSync(join(directory, `${name}-${theme.name}.svg`), chart.draw(run, theme))
}

function processesChart(title: string, what: string, figure: string): Chart {
  return {
    scenarios: ['sixteen-processes'],
    draw: (run, theme) =>
      lineChart(
        {
          title,
          subtitle: `${what}, processes of one caller on one lock`,
          axis: { title: 'processes', places: PROCESS_COUNTS.map(String) },
          lines: contenders().map((subject) => ({
            title: subject.title,
            values: PROCESS_COUNTS.map(
              (count) =>
                summaryOf(run, 'sixteen-processes', subject.name)?.figures[`${figure}${count}`]?.median,
            ),
          })),
        },
        theme,
      ),
  }
}

/** Ours first. */
function contenders(): Subject[] {
  const others = SUBJECTS.filter(({ kind }) => kind === 'peer' || kind === 'baseline')
  return [...SUBJECTS.filter(({ kind }) => kind === 'this'), ...others]
}

function throughputPanel(run: BenchRun, scenario: string, title: string): Panel {
  const shape = { title, subtitle: 'of the limit', digits: 2, scale: 'value' as const }
  return { ...panel(run, scenario, 'ofLimit', shape), line: 1 }
}

function panel(run: BenchRun, scenario: string, figure: string, shape: Omit<Panel, 'bars'>): Panel {
  const bars = contenders().map((subject): Bar => {
    const summary = summaryOf(run, scenario, subject.name)
    const kinds = summary?.troubles.map((trouble) => trouble.kind) ?? []
    return {
      subject,
      spread: summary?.figures[figure],
      remark: ['lets two in', 'hangs', 'failed', 'starves'].find((kind) => kinds.some((one) => one === kind)),
    }
  })
  return { ...shape, bars }
}
