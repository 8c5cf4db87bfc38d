import type { CustomSeriesOption, EChartsOption } from 'echarts'
import type { Spread } from '../driver/statistics'
import type { Subject } from '../subjects/catalogue'
import { draw } from './chart-drawing'
import type { Theme } from './chart-themes'

export interface Bar {
  readonly subject: Subject
  /** Undefined where there is nothing to show. */
  readonly spread: Spread | undefined
  /** What has to be said beside the figure: hangs, starves. */
  readonly remark?: string | undefined
}

/** One figure of all subjects. */
export interface Panel {
  readonly title: string
  readonly subtitle: string
  readonly digits: number
  readonly scale: 'value' | 'log'
  /** Where a line is drawn across all bars. */
  readonly line?: number
  readonly bars: readonly Bar[]
}

const WIDTH = 900
const ROW = 30
const BAR = 18
const NAMES = 165
const HEAD = 62
const GAP = 22
/** Beside the longest bar and the line, for the figures. */
const ROOM_FOR_LABEL = 1.75

/** Panels beside each other, with a row for each subject. */
export function barPanels(title: string, panels: readonly Panel[], theme: Theme): string {
  const subjects = panels[0]!.bars.map(({ subject }) => subject)
  const width = (WIDTH - NAMES - GAP * panels.length) / panels.length
  const left = (index: number) => NAMES + index * (width + GAP)
  const bottom = HEAD + subjects.length * ROW
  const option: EChartsOption = {
    title: [
      { text: title, left: 8, top: 6, textStyle: { fontSize: 14, color: theme.text } },
      ...panels.map((panel, index) => ({
        text: panel.title,
        subtext: panel.scale === 'log' ? `${panel.subtitle} (log scale)` : panel.subtitle,
        left: left(index),
        top: 26,
        itemGap: 2,
        textStyle: { fontSize: 11, color: theme.text },
        subtextStyle: { fontSize: 10, color: theme.text },
      })),
    ],
    grid: panels.map((_, index) => ({
      left: left(index),
      top: HEAD,
      width,
      height: subjects.length * ROW,
    })),
    yAxis: panels.map((_, index) => ({
      gridIndex: index,
      type: 'category',
      inverse: true,
      data: subjects.map((subject) => subject.title),
      axisTick: { show: false },
      axisLine: { lineStyle: { color: theme.faint } },
      axisLabel: { show: index === 0, color: theme.text, fontSize: 11 },
    })),
    xAxis: panels.map((panel, index) => ({
      gridIndex: index,
      type: panel.scale,
      ...extent(panel),
      axisLabel: { show: false },
      axisTick: { show: false },
      splitLine: { show: false },
    })),
    series: panels.map((panel, index) => barSeries(panel, index, theme)),
  }
  return draw(title, option, { width: WIDTH, height: bottom + 12 }, theme)
}

/** The greatest value of a panel. Its figures stand beside it, so that neither a bar nor the line runs through them. */
function mostOf({ bars, line }: Panel): number {
  return Math.max(line ?? 0, ...bars.map(({ spread }) => spread?.most ?? 0))
}

function extent(panel: Panel): { min: number; max: number } {
  const { bars, scale } = panel
  const values = bars.flatMap(({ spread }) => (spread && spread.median > 0 ? [spread] : []))
  const most = mostOf(panel)
  if (scale === 'value') return { min: 0, max: most * ROOM_FOR_LABEL }
  const least = Math.min(...values.map((spread) => spread.least)) / 2
  return { min: least, max: most * (most / least) ** (ROOM_FOR_LABEL - 1) }
}

/** Bar, spread and figure in one, so that each knows where the others are. */
function barSeries(panel: Panel, index: number, theme: Theme): CustomSeriesOption {
  return {
    type: 'custom',
    xAxisIndex: index,
    yAxisIndex: index,
    silent: true,
    // The spread is looked up by the row, for it may be absent.
    data: panel.bars.map((_, row) => [extent(panel).min, row]),
    renderItem({ dataIndex, coordSys }, api) {
      const bar = panel.bars[dataIndex]!
      const { x: left } = coordSys as unknown as { x: number }
      const at = (value: number) => Math.max(left, api.coord([value, dataIndex])[0]!)
      const middle = api.coord([extent(panel).min, dataIndex])[1]!
      const figures = at(mostOf(panel)) + 6
      return { type: 'group', children: partsOf(bar, panel.digits, { at, left, middle, figures }, theme) }
    },
    ...(panel.line !== undefined && {
      markLine: {
        symbol: 'none',
        silent: true,
        label: { show: false },
        lineStyle: { color: theme.text, type: 'dashed', width: 1 },
        data: [{ xAxis: panel.line }],
      },
    }),
  }
}

interface Places {
  /** Where a value lies. */
  at(value: number): number
  readonly left: number
  readonly middle: number
  /** Where the figures stand, one below the other. */
  readonly figures: number
}

function partsOf(
  { subject, spread, remark }: Bar,
  digits: number,
  { at, left, middle, figures }: Places,
  theme: Theme,
) {
  const median = spread && spread.median > 0 ? at(spread.median) : left
  const [from, to] = spread && spread.least > 0 ? [at(spread.least), at(spread.most)] : [median, median]
  const figure = spread ? numberText(spread.median, digits) : '–'
  return [
    {
      type: 'rect' as const,
      shape: { x: left, y: middle - BAR / 2, width: median - left, height: BAR },
      style: { fill: theme.bars[subject.kind], opacity: remark ? 0.5 : 1 },
    },
    {
      type: 'line' as const,
      shape: { x1: from, y1: middle, x2: to, y2: middle },
      style: { stroke: theme.text, lineWidth: to > from ? 1 : 0 },
    },
    {
      type: 'text' as const,
      x: figures,
      y: middle,
      z2: 10,
      style: {
        text: remark ? `${figure}  {remark|${remark}}` : figure,
        fill: theme.text,
        fontSize: 11,
        fontWeight: subject.kind === 'this' ? ('bold' as const) : ('normal' as const),
        verticalAlign: 'middle' as const,
        rich: { remark: { fill: theme.trouble, fontSize: 10 } },
      },
    },
  ]
}

function numberText(value: number, digitsOfMost: number): string {
  // A rate of less than one a second must not be shown as none.
  const digits = value < 10 ? Math.max(1, digitsOfMost) : digitsOfMost
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
