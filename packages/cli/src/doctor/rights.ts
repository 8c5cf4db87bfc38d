import { escapeGlob } from '../glob'
import type { Row } from '../model'
import { shellWord } from '../shell'
import { safe } from '../terminal'
import type { Check, Finding, Patient } from './check'
import { type Names, type Need, needsBeside, needsOf } from './needs'
import { type Ask, permissionsAt, type Refusal } from './permissions'

const PAGE = 'docs/operations/security.md'
const PROBE = 'rlock-doctor'
const MOST_NAMES = 8
const READS = /^(exists|get|hget|hgetall|hlen|llen|pttl|type|zcard)$/

/** One right that is missing, and the needs that it is missing for. */
interface Lack {
  readonly what: string
  readonly grant: string
  readonly needs: Need[]
}

/** The rights that the user of this connection does not have, by object. Run it with the user of the services. */
export const rights: Check = async (patient) => {
  const { connection, nodes } = patient
  const lacks = new Map<string, Lack>()
  let user: string | undefined
  for (const { redis } of nodes) {
    const [whoami] = await connection.ask(redis, [['acl', 'whoami']])
    user = whoami && 'value' in whoami ? String(whoami.value) : connection.user
    const ask = await permissionsAt(connection, redis, user)
    if (!ask) {
      connection.unseen.add(
        'which rights are missing: for that the user needs ACL DRYRUN, or EVAL on Redis 7.0 and later, or MULTI and DISCARD',
      )
      return []
    }
    const names = await namesFor(patient, ask, user)
    const needs = [...names.flatMap((each) => needsOf(each, connection.publish)), ...needsBeside(connection)]
    const refusals = await ask(needs.map(({ words }) => words))
    for (const [at, need] of needs.entries()) note(lacks, need, refusals[at])
  }
  return [...lacks.values()].map((lack) => finding(lack, user ?? 'default', patient.rows))
}

function note(lacks: Map<string, Lack>, need: Need, refusal: Refusal): void {
  if (refusal === undefined) return
  const { words, pattern } = need
  const command = commandOf(words)
  const isCommand = refusal === 'command' || pattern === undefined
  const grant = isCommand ? `+${command}` : refusal === 'either' ? `+${command} ${pattern}` : pattern
  const on = pattern?.startsWith('&') ? 'the channels' : 'the keys'
  const what = isCommand
    ? `call ${words[0] === 'client' ? command.replace('|', ' ').toUpperCase() : command.toUpperCase()}`
    : refusal === 'either'
      ? `call ${command.toUpperCase()} on ${on} ${pattern.slice(1)}`
      : `use ${on} ${pattern.slice(1)}`
  const known = lacks.get(grant)
  if (known) known.needs.push(need)
  else lacks.set(grant, { what, grant, needs: [need] })
}

const commandOf = ([command, sub]: Need['words']) => (command === 'client' ? `client|${sub}` : command)

function finding({ what, grant, needs }: Lack, user: string, rows: readonly Row[]): Finding {
  const objects = [...new Set(needs.map(({ object }) => object))]
  const isUsed = ({ kind }: Need) => kind === 'lock' || rows.some((row) => row.kind === kind)
  const isReadOnly = grant.startsWith('~') && !needs.some(({ words }) => READS.test(words[0]))
  const may = isReadOnly ? `may read, and not write, ${what.replace(/^use /, '')}` : `may not ${what}`
  return {
    id: 'missing-right',
    level: needs.some(isUsed) ? 'error' : 'warn',
    message: `the user ${safe(user)} ${safe(may, 200)}, which these need: ${objects.join(', ')}`,
    page: PAGE,
    fix: grantCommand(user, grant),
  }
}

/** To be copied into a shell. */
function grantCommand(user: string, grant: string): string {
  const [, command, pattern] = /^(\+\S+)? ?(.*)$/s.exec(grant)!
  const words = [user, ...[command, pattern].filter((each) => each !== undefined && each !== '')].map(
    (word) => shellWord(word!),
  )
  return words.includes(undefined)
    ? `Grant it by ACL SETUSER. The words have characters that a terminal does not show; --json has them in the message`
    : `redis-cli ACL SETUSER ${words.join(' ')}`
}

/** The names of objects whose rights are checked: what the user says, else any name, else what the rules and the keys tell. */
async function namesFor(
  { connection, rows, names, nodes }: Patient,
  ask: Ask,
  user: string | undefined,
): Promise<Names[]> {
  if (names.length > 0) return names.map(fromPattern)
  const tries = await ask(
    ['exists', 'get', 'hget', 'del'].map((each) => [each, PROBE, ...(each === 'hget' ? ['1'] : [])]),
  )
  if (tries.some((refusal) => refusal === undefined)) return [{ one: PROBE, all: '*' }]
  const seen = [...new Set(rows.map(({ name }) => prefixOf(name)))]
  const [rules] = await connection.ask(nodes[0]!.redis, [['acl', 'getuser', user ?? 'default']])
  const granted = rules && 'value' in rules ? patternsOf(rules.value) : []
  const used = granted.filter((pattern) => seen.some((each) => each.startsWith(pattern.replace(/\*$/, ''))))
  const all = (used.length > 0 ? used : granted.length > 0 ? granted : seen).slice(0, MOST_NAMES)
  if (all.length === 0)
    connection.unseen.add(
      `the keys and channels that the user may not use: say which names the services use, such as --names 'order:*'`,
    )
  return all.map(fromPattern)
}

function fromPattern(pattern: string): Names {
  const [, head, star] = /^(.*?)(\*?)$/s.exec(pattern)!
  return { one: (head! + (star && PROBE)).replace(/\\(.)/gs, '$1'), all: pattern }
}

/** `order:*` of `order:42`; a name without a separator as it is. */
function prefixOf(name: string): string {
  const [head] = /^.*[:./|]/s.exec(name) ?? []
  return head === undefined ? escapeGlob(name) : `${escapeGlob(head)}*`
}

/** The patterns for names of objects among the rules of a user: not those of the keys beside them. */
function patternsOf(rules: unknown): string[] {
  const patterns = [...JSON.stringify(rules).matchAll(/~([^\s"~&%+@]+)/g)].map(([, pattern]) => pattern!)
  return [...new Set(patterns)].filter(
    (each) => /^(?!redisson_|rlock_)[^*?[\]{}\\]*\*?$/.test(each) && each !== '*',
  )
}
