import type { Random } from '../../../../test/kit/random'
import type { Corpus, RecordedCall } from './corpus'
import type { Argument, Call, Key } from './two-servers'

const ODD = [
  '',
  '0',
  '-1',
  'x',
  '1.5',
  '1e3',
  '007',
  ' 1',
  '9007199254740991',
  '9007199254740993',
  '99999999999999999999',
  'mode',
  'ä\0',
]
const SMALL = ['0', '1', '2', '3', '5', '-1']
const LEASES = ['20000', '30000', '60000', '300000']
const OWNERS = ['a:1', 'a:2', 'b:1', 'a:1:write', 'b:1:write']
const PERMIT_ID = /^[0-9a-f]{32}$/
const IDS = ['0', 'f', '5'].map((digit) => digit.repeat(32))
const A_TIME = /^1[6-9]\d{11}$/

/** A call of a script: as recorded, with keys and arguments changed here and there. */
export function mutated(corpus: Corpus, name: string, keys: readonly Key[], random: Random): Call {
  const calls = corpus.get(name) ?? []
  const { keys: names, args } = random.pick(calls)
  return {
    keys: names.map((key, at) => (random.chance(4) ? anyKey(keys, random, key) : (key ?? String(at)))),
    args: args.map((arg, at) => argument(arg, at, calls, keys, random)),
  }
}

function anyKey(keys: readonly Key[], random: Random, otherwise: string): string {
  return keys.length === 0 ? otherwise : random.pick(keys).name
}

function argument(
  recorded: string,
  at: number,
  calls: readonly RecordedCall[],
  keys: readonly Key[],
  random: Random,
): Argument {
  const leased = keys.filter(({ expires }) => expires)
  if (A_TIME.test(recorded) && leased.length > 0 && random.chance(70))
    return { end: random.pick(leased).name, shift: random.pick([0, 0, 0, -5_000, 5_000]) }
  if (random.chance(80)) return recorded
  // An id of a permit is hexadecimal: what the C library makes of other text is no concern of a script.
  if (PERMIT_ID.test(recorded)) return random.pick(IDS)
  if (random.chance(50)) return random.pick(calls).args[at] ?? recorded
  const number = Number(recorded)
  if (recorded.includes(':')) return random.pick([...OWNERS, ...keys.flatMap(({ fields }) => fields)])
  const isTime = calls.some(({ args }) => Number(args[at]) >= 1_000)
  if (recorded !== '' && number < 1_000 && !isTime) return random.pick([...SMALL, ...ODD])
  // No lease that ends while the servers are compared.
  return random.pick([...LEASES, ...ODD.filter((odd) => !(Number(odd) > 0 && Number(odd) < 5_000))])
}
