// Makes a source map smaller: it keeps one entry for each line of a source in each line of the code, instead of one for
// each token. A stack trace names the same files and lines as before.
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/**
 * The field `mappings` of a source map with an entry only where the source or its line changes.
 * @param {string} mappings
 */
export function linesOnly(mappings) {
  const read = { source: 0, line: 0, column: 0 }
  const written = { source: 0, line: 0, column: 0 }
  return mappings
    .split(';')
    .map((ofLine) => {
      const kept = []
      let column = 0
      let columnWritten = 0
      let place
      for (const entry of ofLine === '' ? [] : ofLine.split(',')) {
        const [columns, sources, lines, sourceColumns] = decoded(entry)
        column += columns
        if (sources === undefined) continue
        read.source += sources
        read.line += lines
        read.column += sourceColumns
        if (place === `${read.source}:${read.line}`) continue
        place = `${read.source}:${read.line}`
        kept.push(
          [column - columnWritten, ...Object.keys(read).map((key) => read[key] - written[key])]
            .map(encoded)
            .join(''),
        )
        columnWritten = column
        Object.assign(written, read)
      }
      return kept.join(',')
    })
    .join(';')
}

/** The numbers of one entry: each is the difference to the entry before. */
function decoded(entry) {
  const numbers = []
  let value = 0
  let shift = 0
  for (const digit of entry) {
    const bits = DIGITS.indexOf(digit)
    value |= (bits & 31) << shift
    shift += 5
    if (bits & 32) continue
    numbers.push(value & 1 ? -(value >>> 1) : value >>> 1)
    value = 0
    shift = 0
  }
  return numbers
}

export function encoded(number) {
  let value = number < 0 ? (-number << 1) | 1 : number << 1
  let digits = ''
  do {
    const more = value > 31
    digits += DIGITS[(value & 31) | (more ? 32 : 0)]
    value >>>= 5
  } while (value > 0)
  return digits
}
