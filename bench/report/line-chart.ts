import { draw } from './chart-drawing'
import type { Theme } from './chart-themes'

export interface Line {
  readonly title: string
  /** For each of the places on the axis; undefined where there is none. */
  readonly values: readonly (number | undefined)[]
}

export interface LineChartSetup {
  readonly title: string
  readonly subtitle: string
  readonly axis: { readonly title: string; readonly places: readonly string[] }
  readonly lines: readonly Line[]
}

/** The first line is ours, and is drawn bolder. */
export function lineChart({ title, subtitle, axis, lines }: LineChartSetup, theme: Theme): string {
  const label = { color: theme.text, fontSize: 11 }
  return draw(
    `${title}: ${subtitle}`,
    {
      title: {
        text: title,
        subtext: subtitle,
        left: 8,
        top: 6,
        itemGap: 4,
        textStyle: { fontSize: 14, color: theme.text },
        subtextStyle: { fontSize: 11, color: theme.text },
      },
      color: [...theme.lines],
      legend: { orient: 'vertical', left: 690, top: 56, textStyle: label, itemWidth: 18 },
      grid: { left: 52, right: 225, top: 60, bottom: 44 },
      xAxis: {
        type: 'category',
        data: [...axis.places],
        name: axis.title,
        nameLocation: 'middle',
        nameGap: 26,
        nameTextStyle: label,
        axisLabel: label,
        axisLine: { lineStyle: { color: theme.faint } },
      },
      yAxis: {
        type: 'value',
        min: 0,
        axisLabel: label,
        splitLine: { lineStyle: { color: theme.faint } },
      },
      series: lines.map(({ title: name, values }, index) => ({
        type: 'line',
        name,
        data: values.map((value) => value ?? null),
        symbol: 'circle',
        symbolSize: index === 0 ? 7 : 5,
        lineStyle: { width: index === 0 ? 3 : 1.5 },
      })),
    },
    { width: 900, height: 340 },
    theme,
  )
}
