import type { Theme } from '../report/chart-themes'
import { FONT } from '../report/chart-themes'

export type Colour = 'blue' | 'orange' | 'purple' | 'green' | 'grey' | 'red'

/** An SVG that grows by shapes. Lengths are pixels, and y grows downwards. */
export class Canvas {
  private readonly shapes: string[] = []

  constructor(
    private readonly theme: Theme,
    private readonly width: number,
    private readonly height: number,
  ) {}

  colour(name: Colour): string {
    const [blue, orange, purple, green] = this.theme.lines as [string, string, string, string]
    return { blue, orange, purple, green, grey: this.theme.bars.peer, red: this.theme.trouble }[name]
  }

  text(
    x: number,
    y: number,
    words: string,
    { size = 13, bold = false, anchor = 'start', colour }: TextStyle = {},
  ): this {
    const fill = colour ? this.colour(colour) : this.theme.text
    const weight = bold ? ' font-weight="600"' : ''
    return this.add(
      `<text x="${x}" y="${y}" font-size="${size}" text-anchor="${anchor}" fill="${fill}"${weight}>${escaped(words)}</text>`,
    )
  }

  /** A filled bar with words in its middle. It covers what was drawn before it, so that no line runs through its words. */
  bar(
    x: number,
    y: number,
    width: number,
    words: string,
    colour: Colour,
    { height = 26, hatched = false } = {},
  ): this {
    const fill = this.colour(colour)
    const place = `x="${x}" y="${y}" width="${width}" height="${height}" rx="4"`
    this.add(`<rect ${place} fill="${this.theme.background}"/>`)
    this.add(
      hatched
        ? `<rect ${place} fill="none" stroke="${fill}" stroke-dasharray="4 3"/>`
        : `<rect ${place} fill="${fill}" fill-opacity="0.22" stroke="${fill}"/>`,
    )
    return this.text(x + width / 2, y + height / 2 + 4, words, { size: 12, anchor: 'middle' })
  }

  /** A box with a line of words for each of `lines`; the first is bold. */
  box(x: number, y: number, width: number, lines: readonly string[], colour: Colour): this {
    const height = 16 + lines.length * 18
    const stroke = this.colour(colour)
    this.add(
      `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6" fill="${stroke}" fill-opacity="0.1" stroke="${stroke}"/>`,
    )
    for (const [at, words] of lines.entries())
      this.text(x + width / 2, y + 22 + at * 18, words, { size: 12, bold: at === 0, anchor: 'middle' })
    return this
  }

  line(
    x1: number,
    y1: number,
    x2: number,
    y2: number,
    { colour = 'grey', dashed = false }: LineStyle = {},
  ): this {
    const dash = dashed ? ' stroke-dasharray="4 3"' : ''
    return this.add(
      `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${this.colour(colour)}" stroke-width="1.5"${dash}/>`,
    )
  }

  /** A line through points. */
  curve(points: readonly (readonly [x: number, y: number])[], colour: Colour): this {
    const path = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ')
    return this.add(
      `<polyline points="${path}" fill="none" stroke="${this.colour(colour)}" stroke-width="1.8" stroke-linejoin="round"/>`,
    )
  }

  /** A filled area without words. */
  band(x: number, y: number, width: number, height: number, colour: Colour): this {
    return this.add(
      `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${this.colour(colour)}" fill-opacity="0.13"/>`,
    )
  }

  arrow(x1: number, y1: number, x2: number, y2: number, style: LineStyle = {}): this {
    const length = Math.hypot(x2 - x1, y2 - y1)
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length]
    const [bx, by] = [x2 - dx * 8, y2 - dy * 8]
    const head = `${x2},${y2} ${bx - dy * 4},${by + dx * 4} ${bx + dy * 4},${by - dx * 4}`
    this.line(x1, y1, bx, by, style)
    return this.add(`<polygon points="${head}" fill="${this.colour(style.colour ?? 'grey')}"/>`)
  }

  /** The whole picture. `title` is what a screen reader says. */
  svg(title: string): string {
    const { width, height } = this
    return `<svg role="img" xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${FONT}"><title>${escaped(title)}</title>
<rect width="${width}" height="${height}" fill="${this.theme.background}"/>
${this.shapes.join('\n')}
</svg>
`
  }

  private add(shape: string): this {
    this.shapes.push(shape)
    return this
  }
}

interface TextStyle {
  readonly size?: number
  readonly bold?: boolean
  readonly anchor?: 'start' | 'middle' | 'end'
  readonly colour?: Colour
}

interface LineStyle {
  readonly colour?: Colour
  readonly dashed?: boolean
}

function escaped(words: string): string {
  return words.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign]!)
}
