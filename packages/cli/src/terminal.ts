import { styleText } from 'node:util'

/** How much of a text a terminal shows, in characters: a name may have 64 kB. */
export const SHOWN = 80

/**
 * What a terminal acts on, or what changes the order of the text around it: C0, C1, DEL, zero-width characters, separators of
 * lines, and the controls of writing direction. A name in Redis may contain any of them.
 */
const UNSAFE = new RegExp(
  '[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff\\ufff9-\\ufffb]' +
    '|\\p{Cs}|[\\u{e0000}-\\u{e007f}]',
  'gu',
)

const hex = (character: string) => character.codePointAt(0)!.toString(16)

/** The text with every unsafe character in a readable form, `\u{1b}`, and cut to `most` characters. */
export function safe(text: string, most = SHOWN): string {
  // Cut first: the rest of a long name is not even looked at.
  const shown = [...text.slice(0, 2 * most)].slice(0, most).join('')
  const escaped = shown.replace(UNSAFE, (character) => `\\u{${hex(character)}}`)
  return shown.length < text.length ? `${escaped}…(${text.length})` : escaped
}

/** The text without the login of any URL in it: a user may have typed one in the wrong place. */
export const withoutLogins = (text: string) => text.replace(/([a-z+]{1,20}:\/\/)\S*@/gi, '$1…@')

/** Says something beside the output, on stderr. */
export function complain(text: string): void {
  for (const line of text.split('\n'))
    process.stderr.write(`rlock: ${safe(withoutLogins(line), MOST_SAID)}\n`)
}

const MOST_SAID = 600

/** One line of JSON that a terminal shows as it is. It is still the same JSON. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE, (character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

/** Writes lines and tables; colours on a terminal only, and not with NO_COLOR. */
export class Screen {
  private readonly colours: boolean

  constructor(
    private readonly output: Output = process.stdout,
    env: Readonly<Record<string, string | undefined>> = process.env,
  ) {
    this.colours = output.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
  }

  get isTerminal(): boolean {
    return this.output.isTTY === true
  }

  /** The text must be safe. */
  style(format: Parameters<typeof styleText>[0], text: string): string {
    return this.colours ? styleText(format, text, ...noStream) : text
  }

  line(text = ''): void {
    this.output.write(`${text}\n`)
  }

  json(value: unknown): void {
    this.output.write(`${jsonLine(value)}\n`)
  }

  /** Replaces what is on the screen. */
  redraw(text: string): void {
    this.output.write(this.isTerminal ? `\u001b[H\u001b[J${text}\n` : `${text}\n`)
  }
}

/** From Node 22.13 on styleText looks at the stream by itself; this program has looked already. */
const noStream = [{ validateStream: false }] as unknown as []

/** Cells side by side under their headings. The cells must be safe. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  // Not by Math.max of all: there may be more rows than a call takes arguments.
  const widths = headings.map((heading, at) =>
    rows.reduce((most, row) => Math.max(most, length(row[at] ?? '')), length(heading)),
  )
  const lines = [headings, ...rows].map((row) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell + ' '.repeat(widths[at]! - length(cell))))
      .join('  ')
      .trimEnd(),
  )
  return lines.join('\n')
}

const length = (text: string) => [...text].length
