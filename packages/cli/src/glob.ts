/** Whether a byte fits one place of a pattern; `star` fits any number of bytes. */
type Part = 'star' | ((byte: number) => boolean)

const [STAR, ANY, OPEN, CLOSE, NOT, RANGE, ESCAPE] = [...'*?[]^-\\'].map((each) => each.charCodeAt(0)) as [
  ...[number, number, number, number, number, number, number],
]

/** The text as a pattern that matches nothing else. */
export const escapeGlob = (text: string) => text.replace(/[*?[\]\\]/g, '\\$&')

/**
 * The pattern of MATCH as a function, for names that do not come from SCAN. It matches bytes, as the server does, takes every
 * pattern that the server takes, and never tries more than the last star anew: its time grows with name times pattern at most.
 */
export function glob(pattern: string): (name: string) => boolean {
  const parts = partsOf(Buffer.from(pattern))
  return (name) => matches(parts, Buffer.from(name))
}

function matches(parts: readonly Part[], bytes: Buffer): boolean {
  let [part, at, star, starAt] = [0, 0, -1, 0]
  while (at < bytes.length) {
    const wanted = parts[part]
    if (wanted === 'star') {
      star = part++
      starAt = at
    } else if (wanted?.(bytes[at]!)) {
      part++
      at++
    } else if (star >= 0) {
      // The last star takes one byte more. What an earlier star took need not change.
      part = star + 1
      at = ++starAt
    } else return false
  }
  while (parts[part] === 'star') part++
  return part === parts.length
}

function partsOf(pattern: Buffer): Part[] {
  const parts: Part[] = []
  for (let at = 0; at < pattern.length; at++) {
    const byte = pattern[at]!
    if (byte === STAR) {
      if (parts.at(-1) !== 'star') parts.push('star')
    } else if (byte === ANY) parts.push(() => true)
    else if (byte === OPEN) {
      const { part, end } = classAt(pattern, at + 1)
      parts.push(part)
      at = end
    } else {
      const literal = byte === ESCAPE && at + 1 < pattern.length ? pattern[++at]! : byte
      parts.push((given) => given === literal)
    }
  }
  return parts
}

/** A class of bytes without its first bracket. One without an end goes on to the end of the pattern, as on the server. */
function classAt(pattern: Buffer, first: number): { readonly part: Part; readonly end: number } {
  const has = new Uint8Array(256)
  const isNot = pattern[first] === NOT
  let at = isNot ? first + 1 : first
  for (; at < pattern.length && pattern[at] !== CLOSE; at++) {
    if (pattern[at] === ESCAPE && at + 1 < pattern.length) has[pattern[++at]!] = 1
    else if (pattern[at + 1] === RANGE && at + 2 < pattern.length) {
      const [one, other] = [pattern[at]!, pattern[at + 2]!]
      has.fill(1, Math.min(one, other), Math.max(one, other) + 1)
      at += 2
    } else has[pattern[at]!] = 1
  }
  return { part: (byte) => (has[byte] === 1) !== isNot, end: at }
}
