/** Names of options in node-redis, in other clients and in other languages, with the names here. */
const CALLED_ELSEWHERE = new Map([
  ['auth', 'password'],
  ['cluster', 'nodes'],
  ['database', 'db'],
  ['hostname', 'host'],
  ['masterName', 'name'],
  ['pass', 'password'],
  ['passwd', 'password'],
  ['rootNodes', 'nodes'],
  ['sentinelRootNodes', 'sentinels'],
  ['server', 'host'],
  ['ssl', 'tls'],
  ['user', 'username'],
])

const URL_ITSELF = 'give the URL itself: { redis: url }'
const OTHER_HINTS = new Map([
  ['connectionString', URL_ITSELF],
  ['socket', 'host, port, path and tls stand in redis itself'],
  ['uri', URL_ITSELF],
  ['url', URL_ITSELF],
])

/** Throws TypeError for an unknown option. The message lists `shown`. */
export function refuseUnknown(
  given: object,
  where: string,
  known: readonly string[],
  shown: readonly string[] = known,
): void {
  for (const key of Object.keys(given)) if (!known.includes(key)) throw unknownOption(key, where, shown)
}

export function unknownOption(key: string, where: string, shown: readonly string[]): TypeError {
  // A key can be any text, also a URL with a password.
  const name = /^\w{1,40}$/.test(key) ? ` ${where}.${key}` : ` in ${where}`
  const hint = hintFor(key, shown)
  return new TypeError(`unknown option${name}${hint && ` (${hint})`}; known here: ${shown.join(', ')}`)
}

function hintFor(key: string, shown: readonly string[]): string {
  const meant = CALLED_ELSEWHERE.get(key) ?? nearest(key, shown)
  if (meant !== undefined && shown.includes(meant)) return `did you mean ${meant}?`
  return OTHER_HINTS.get(key) ?? ''
}

function nearest(key: string, shown: readonly string[]): string | undefined {
  const most = key.length > 5 ? 2 : 1
  const close = shown.map((name) => ({ name, steps: stepsBetween(key.toLowerCase(), name.toLowerCase()) }))
  const best = close.sort((one, other) => one.steps - other.steps)[0]
  return best && best.steps <= most && best.steps < key.length ? best.name : undefined
}

/** The number of letters that were added, left out, changed, or swapped with the next one. */
function stepsBetween(from: string, to: string): number {
  let before: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const changed = last[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)
      const swaps = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const swapped = swaps ? before[j - 2]! + 1 : changed
      row.push(Math.min(changed, swapped, last[j]! + 1, row[j - 1]! + 1))
    }
    before = last
    last = row
  }
  return last[to.length]!
}
