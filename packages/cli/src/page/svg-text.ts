import type { Shape } from './timeline'

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
