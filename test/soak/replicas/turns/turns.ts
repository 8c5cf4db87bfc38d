import { setTimeout as sleep } from 'node:timers/promises'
import { Redisson } from '../../../../src/index'
import { type JavaPeer, startJavaPeer } from '../../../kit/java/index'
import { NoFailover } from '../world'
import { Contest, type Verdict } from './contest'
import { FAULTS, type Fault, TAG } from './faults'
import { KINDS } from './kinds'

/** A standstill that lasts until the lease of a released lock ends is longer than any limit. */
const LEASE = 10_000
/** How long the callers take turns before the fault. */
const BEFORE = 1_500
/** How long the contest is watched after the new primary answered. */
const WATCHED = 7_000

type Verdicts = ReadonlyMap<string, Verdict>

async function round(fault: Fault, hasJava: boolean): Promise<Verdicts> {
  const servers = await fault.start()
  const clients: Redisson[] = []
  let peer: JavaPeer | undefined
  try {
    for (let index = 0; index < 2; index++) {
      const client = await Redisson.create({ redis: servers.redis!, lockWatchdogTimeout: LEASE })
      client.on('error', () => {})
      clients.push(client)
    }
    if (hasJava) peer = await startJavaPeer({ redis: { ...servers.java, lockWatchdogTimeout: LEASE } })
    const contests = KINDS.map((kind) => new Contest(kind, clients, TAG))
    for (const contest of contests) await contest.begin(peer)
    await sleep(BEFORE)
    const answered = await servers.replace()
    await sleep(WATCHED)
    const verdicts = await Promise.all(
      contests.map(async (contest) => [contest.kind.name, await contest.end(answered)] as const),
    )
    return new Map(verdicts)
  } finally {
    await Promise.all(clients.map((client) => client.shutdown({ timeout: 0 })))
    await peer?.kill()
    await servers.stop()
  }
}

/** What is wrong with a verdict, in words; undefined: nothing. */
function complaint(
  { standstill, together, tokens, wrong, errors }: Verdict,
  limit: number,
): string | undefined {
  const said = [
    standstill > limit && `no turn for ${Math.round(standstill)} ms`,
    together > 0 && `${together} times too many inside`,
    tokens > 0 && `${tokens} tokens not greater`,
    wrong !== undefined && `${wrong} permits free`,
  ].filter(Boolean)
  const met = Object.entries(errors).map(([code, times]) => `${code} ${times}`)
  return said.length > 0 ? `${said.join(', ')}${met.length > 0 ? ` (${met.join(', ')})` : ''}` : undefined
}

/** Runs each fault so often, prints a table, and resolves with whether every run was right. */
export async function takeTurns(rounds: number, only: string, hasJava: boolean): Promise<boolean> {
  console.log(`lockWatchdogTimeout ${LEASE}; ${rounds} rounds each, times in ms; each kind in each round\n`)
  console.log(
    '| what happens | next turn after, most | standstills | too many inside | tokens | counts | errors |',
  )
  console.log('| --- | --- | --- | --- | --- | --- | --- |')
  let right = true
  for (const fault of FAULTS) {
    if (!fault.title.includes(only)) continue
    const all: Verdict[] = []
    for (let done = 0; done < rounds; ) {
      try {
        const verdicts = await round(fault, hasJava)
        done++
        for (const [kind, verdict] of verdicts) {
          all.push(verdict)
          const said = complaint(verdict, fault.limit)
          if (said) console.error(`${fault.title}, round ${done}, ${kind}: ${said}`)
        }
      } catch (error) {
        if (!(error instanceof NoFailover)) throw error
        console.error(`once more: ${error.message}`)
      }
    }
    console.log(line(fault, all))
    right &&= all.every((verdict) => complaint(verdict, fault.limit) === undefined)
  }
  return right
}

function line({ title, limit }: Fault, verdicts: readonly Verdict[]): string {
  const count = (wrong: (verdict: Verdict) => boolean) =>
    `${verdicts.filter(wrong).length} of ${verdicts.length}`
  const standstills = verdicts.map(({ standstill }) => standstill).sort((a, b) => a - b)
  const errors: Record<string, number> = {}
  for (const verdict of verdicts)
    for (const [code, times] of Object.entries(verdict.errors)) errors[code] = (errors[code] ?? 0) + times
  const cells = [
    title,
    `${Math.round(standstills[standstills.length >> 1]!)} (median), ${Math.round(standstills.at(-1)!)}`,
    count(({ standstill }) => standstill > limit),
    count(({ together }) => together > 0),
    String(verdicts.reduce((sum, { tokens }) => sum + tokens, 0)),
    count(({ wrong }) => wrong !== undefined),
    Object.entries(errors)
      .map(([code, times]) => `${code} ${times}`)
      .join(', ') || '–',
  ]
  return `| ${cells.join(' | ')} |`
}
