import type { EChartsOption } from 'echarts'
import { CustomChart, LineChart } from 'echarts/charts'
import { GridComponent, LegendComponent, MarkLineComponent, TitleComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import { FONT, type Theme } from './chart-themes'

use([LineChart, CustomChart, GridComponent, LegendComponent, MarkLineComponent, TitleComponent, SVGRenderer])

export interface Size {
  readonly width: number
  readonly height: number
}

/** An SVG as text, drawn without a browser; its title is for those who have it read to them. */
export function draw(title: string, option: EChartsOption, { width, height }: Size, theme: Theme): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height })
  chart.setOption({
    animation: false,
    backgroundColor: theme.background,
    textStyle: { fontFamily: FONT, color: theme.text },
    ...option,
  })
  const svg = chart.renderToSVGString()
  chart.dispose()
  const text = title.replace(/[&<]/g, (sign) => (sign === '&' ? '&amp;' : '&lt;'))
  return `${svg.replace(/<svg ([^>]*)>/, `<svg role="img" $1><title>${text}</title>`)}\n`
}
