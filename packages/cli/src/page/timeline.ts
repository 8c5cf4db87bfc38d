// Draws who was inside and who waited, in lanes. The page of `rlock page`, the simulator and chaos draw with it.

/** What is drawn. Times are in ms of one clock. Texts may contain anything: they are drawn as text. */
export interface Timeline {
  readonly title: string
  /** Whether the title tells of a violation. */
  readonly isTrouble?: boolean
  readonly from: number
  readonly to: number
  /** What stands below both ends. */
  readonly ends: readonly [string, string]
  readonly lanes: readonly Lane[]
  /** Across all lanes: faults, for instance. */
  readonly bands?: readonly Band[]
  /** A line across all lanes at this time. */
  readonly moment?: number | undefined
}

export interface Lane {
  readonly label: string
  readonly bars: readonly Bar[]
}

export interface Bar {
  readonly from: number
  readonly to: number
  readonly colour: string
  /** Hatched. */
  readonly waits?: boolean
  /** Which strip below the first one, from 1 on. Absent: it is as high as its lane, and in the middle. */
  readonly strip?: number
  /** Of the first strip: which of how many that lie side by side, from 0 on. */
  readonly part?: readonly [index: number, count: number]
  /** Written inside, as far as there is room. */
  readonly label?: string
  /** What a pointer shows. */
  readonly title: string
}

export interface Band {
  readonly from: number
  readonly to: number
  readonly label: string
  readonly title: string
}

export interface Theme {
  readonly background: string
  readonly text: string
  readonly faint: string
  readonly trouble: string
}

/** How large the picture is, in pixels. */
export interface Size {
  readonly width: number
  /** The width of the labels of the lanes. */
  readonly labels: number
  /** The height of a lane. */
  readonly lane: number
  /** Only the lanes: no title above, and no ends below. */
  readonly isBare?: boolean
}

/** An element of SVG: `svgText` writes it, and the page makes elements of it, without parsing what it draws. */
export interface Shape {
  readonly tag: string
  readonly attributes: Readonly<Record<string, string | number>>
  readonly content: string | readonly Shape[]
}

/**
 * The timeline as a tree of elements. The page contains the source of this function, so the function uses nothing but its
 * arguments and what every browser and every Node has.
 */
export function drawTimeline(drawn: Timeline, theme: Theme, { width, labels, lane, isBare }: Size): Shape {
  const [bar, right] = [14, 12]
  const [top, bottom] = isBare ? [0, 0] : [44, 30]
  const font = 'system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif'
  const height = top + drawn.lanes.length * lane + bottom
  const round = (value: number) => Math.round(value * 10) / 10
  const shape = (tag: string, attributes: Shape['attributes'], content: Shape['content'] = []): Shape => ({
    tag,
    attributes,
    content,
  })
  const titled = (title: string) => [shape('title', {}, title)]
  const x = (at: number) => {
    const part = (at - drawn.from) / Math.max(1e-9, drawn.to - drawn.from)
    return labels + Math.min(1, Math.max(0, part)) * (width - labels - right)
  }
  // The average width of a character is a little more than half the size of the font.
  const cut = (what: string, room: number, size: number) => {
    const most = Math.max(0, Math.floor(room / (size * 0.56)))
    const characters = [...what.slice(0, 1_000)]
    return characters.length > most ? `${characters.slice(0, Math.max(0, most - 1)).join('')}…` : what
  }
  const text = (what: string, fill: string, [at, y]: [number, number], anchor: 'start' | 'end', size = 11) =>
    shape(
      'text',
      {
        ...{ x: round(at), y: round(y), fill, 'dominant-baseline': 'central', 'text-anchor': anchor },
        ...{ 'font-size': size, 'font-family': font },
      },
      what,
    )

  const partOf = ([index, count]: readonly [number, number]): [number, number] => {
    const high = 12 / count
    return [round(3 + index * high), round(Math.max(1, high - (count > 1 ? 1 : 0)))]
  }

  const hatches = new Set<string>()
  // By its colour: several pictures in one document have the same pattern by the same name.
  const hatchOf = (colour: string) => `waits-${colour.replace(/\W/g, '-')}`
  const hatched = (colour: string) => {
    hatches.add(colour)
    return `url(#${hatchOf(colour)})`
  }
  const lanes = drawn.lanes.flatMap(({ label, bars }, index) => {
    const y = top + index * lane
    const line = shape('path', { d: `M${labels} ${y + lane / 2}H${width - right}`, stroke: theme.faint })
    const short = cut(label, labels - 16, 11)
    const written = text(short, theme.text, [labels - 8, y + lane / 2], 'end')
    const name =
      short === label ? written : { ...written, content: [...titled(label), shape('tspan', {}, short)] }
    const drawnBars = bars
      .filter(({ from, to }) => from <= drawn.to && to >= drawn.from)
      .flatMap((each) => {
        const [from, to] = [x(each.from), x(each.to)]
        const [offset, high] =
          each.strip === undefined
            ? [(lane - bar) / 2, bar]
            : each.strip === 0
              ? partOf(each.part ?? [0, 1])
              : [10 + 6 * each.strip, 5]
        const attributes = {
          ...{ x: round(from), y: y + offset, width: round(Math.max(1, to - from)), height: high, rx: 2 },
          fill: each.waits ? hatched(each.colour) : each.colour,
        }
        const rect = shape('rect', attributes, titled(each.title))
        const inside = each.label === undefined ? '' : cut(each.label, to - from - 8, 9)
        if (inside.length < 4) return [rect]
        return [rect, text(inside, theme.background, [from + 4, y + offset + high / 2], 'start', 9)]
      })
    return [line, name, ...drawnBars]
  })
  const bands = (drawn.bands ?? [])
    .filter(({ from, to }) => from <= drawn.to && to >= drawn.from)
    .flatMap(({ from, to, label, title }, index) => [
      shape(
        'rect',
        {
          ...{ x: round(x(from)), y: top - 6, width: round(Math.max(2, x(to) - x(from))) },
          ...{ height: height - top - bottom + 12, fill: theme.trouble, opacity: 0.18 },
        },
        titled(title),
      ),
      text(label, theme.trouble, [x(from) + 2, 28 + (index % 2) * 10], 'start', 9),
    ])
  const moment =
    drawn.moment === undefined
      ? []
      : [
          shape('path', {
            d: `M${round(x(drawn.moment))} ${Math.max(0, top - 6)}V${height - bottom + 6}`,
            ...{ stroke: theme.trouble, 'stroke-width': 2 },
          }),
        ]
  const patterns = [...hatches].map((colour) =>
    shape(
      'pattern',
      {
        ...{ id: hatchOf(colour), width: 6, height: 6 },
        ...{ patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
      },
      [
        shape('rect', { width: 6, height: 6, fill: colour, opacity: 0.15 }),
        shape('rect', { width: 2, height: 6, fill: colour, opacity: 0.8 }),
      ],
    ),
  )
  const around = [
    text(cut(drawn.title, width - 24, 11), drawn.isTrouble ? theme.trouble : theme.text, [12, 16], 'start'),
    text(drawn.ends[0], theme.text, [labels, height - 10], 'start'),
    text(drawn.ends[1], theme.text, [width - right, height - 10], 'end'),
  ]
  return shape(
    'svg',
    { role: 'img', xmlns: 'http://www.w3.org/2000/svg', width, height, viewBox: `0 0 ${width} ${height}` },
    [
      ...titled(drawn.title),
      shape('defs', {}, patterns),
      shape('rect', { width, height, fill: theme.background }),
      ...bands,
      ...lanes,
      ...moment,
      ...(isBare ? [] : around),
    ],
  )
}

/** The elements as the text of an SVG file, which no browser takes for anything else. */
export function svgText({ tag, attributes, content }: Shape): string {
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(String(value))}"`)
  const inside = typeof content === 'string' ? escaped(content) : content.map(svgText).join('')
  return `<${tag}${written.join('')}>${inside}</${tag}>`
}

/** XML has no form at all for most control characters and for half a surrogate pair. */
const escaped = (text: string) =>
  text
    .toWellFormed()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML excludes.
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;')

export interface NamedTheme extends Theme {
  readonly name: 'light' | 'dark'
  /** Colours that are told apart. */
  readonly bars: readonly string[]
}

/** The colours of docs/evidence/charts. GitHub shows a page in either theme, and so does a browser. */
export const THEMES: readonly NamedTheme[] = [
  {
    ...{ name: 'light', background: '#ffffff', text: '#1f2328', faint: '#d1d9e0', trouble: '#cf222e' },
    bars: ['#0969da', '#bc4c00', '#8250df', '#1a7f37', '#bf3989', '#9a6700'],
  },
  {
    ...{ name: 'dark', background: '#0d1117', text: '#e6edf3', faint: '#3d444d', trouble: '#ff7b72' },
    bars: ['#4493f8', '#f0883e', '#ab7df8', '#3fb950', '#db61a2', '#d29922'],
  },
]
