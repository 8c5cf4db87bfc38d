import type { Redis } from 'ioredis'
import { value } from '../answers'
import type { Connection } from '../connection'

/** What the server lacks a right for; `either`: it does not say which; undefined: it may be done, as far as is known. */
export type Refusal = 'command' | 'key' | 'channel' | 'either' | undefined

type Words = readonly string[]

/** Asks whether the user of the connection may send these commands. None of them is carried out. */
export type Ask = (commands: readonly Words[]) => Promise<Refusal[]>

const AT_ONCE = 200

/**
 * Asked from within a script, as a user of locks may: the script names the reason of a refusal by sending the refused command,
 * which is refused again.
 */
const SCRIPT = `
local answers, at = {}, 1
while at <= #ARGV do
  local words, count = {}, tonumber(ARGV[at])
  for i = 1, count do words[i] = ARGV[at + i] end
  at = at + count + 1
  local answer = ''
  if not redis.acl_check_cmd(unpack(words)) then
    local result = redis.pcall(unpack(words))
    answer = type(result) == 'table' and result.err or 'refused'
  end
  answers[#answers + 1] = answer
end
return answers`

/** How this server tells what its user may do; undefined if it does not tell this user. */
export async function permissionsAt(
  connection: Connection,
  redis: Redis,
  user: string | undefined,
): Promise<Ask | undefined> {
  const ways: (Ask | undefined)[] = [
    user === undefined ? undefined : byDryRun(connection, redis, user),
    byScript(redis),
    byQueue(connection, redis),
  ]
  for (const ask of ways) {
    // Each of them is asked about itself first: it throws where it cannot be used.
    if (!ask) continue
    try {
      await ask([['time'], ['get', 'rlock-doctor']])
      return ask
    } catch {}
  }
  return undefined
}

function byDryRun(connection: Connection, redis: Redis, user: string): Ask {
  return inSlices(async (commands) => {
    const answers = await connection.ask(
      redis,
      commands.map((words) => ['acl', 'dryrun', user, ...words]),
    )
    return answers.map((answer) => {
      if ('value' in answer) return refusalOf(String(answer.value))
      if (/NOPERM|dryrun/i.test(answer.error.message)) throw answer.error
      // A command that this server does not have cannot be granted.
      return undefined
    })
  })
}

function byScript(redis: Redis): Ask {
  return inSlices(async (commands) => {
    const args = commands.flatMap((words) => [words.length, ...words])
    const answers = (await redis.eval(SCRIPT, 0, ...args)) as string[]
    return answers.map((text) => (text === '' ? undefined : (refusalOf(text) ?? 'either')))
  })
}

/** Queues the commands in a transaction that is then discarded: also Redis 6.2 checks the rights when it queues. */
function byQueue(connection: Connection, redis: Redis): Ask {
  return inSlices(async (commands) => {
    // Without the right to DISCARD, the connection would stay within the transaction.
    const [discard] = await connection.ask(redis, [['discard']])
    if (!discard || 'value' in discard || !/without MULTI/i.test(discard.error.message))
      throw new Error('DISCARD is refused')
    const answers = await connection.ask(redis, [['multi'], ...commands, ['discard']])
    if (value(answers[0]) !== 'OK') throw new Error('MULTI is refused')
    return answers
      .slice(1, -1)
      .map((answer) => ('error' in answer ? refusalOf(answer.error.message) : undefined))
  })
}

const inSlices =
  (ask: Ask): Ask =>
  async (commands) => {
    const refusals: Refusal[] = []
    for (let at = 0; at < commands.length; at += AT_ONCE)
      refusals.push(...(await ask(commands.slice(at, at + AT_ONCE))))
    return refusals
  }

/** What the server's words say is missing. Redis 6.2, 7 and Valkey have different ones. */
export function refusalOf(text: string): Refusal {
  if (!/permission|can't (run|access|publish)|NOPERM/i.test(text)) return undefined
  if (/permissions? to run|can't run/i.test(text)) return 'command'
  if (/channels?( used as arguments)?\.?$|can't publish/i.test(text)) return 'channel'
  return /keys?\b/i.test(text) ? 'key' : 'either'
}
