import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { INSPECT_CHANNEL } from 'rlock/internal'
import type { Connection } from './connection'

/** What a process says of one of its holds. */
export interface ProcessHold {
  readonly key: string
  readonly name: string
  readonly kind: string
  readonly owner: string
  readonly heldFor: number
  /** In ms; absent: without limit, or an older process. */
  readonly maxHoldTime?: number
  readonly at?: string
}

/** What a process says of one caller that waits. */
export interface ProcessWait {
  readonly key: string
  readonly name: string
  readonly owner?: string
  readonly waitingFor: number
  /** The place in the local queue; 1 is next. */
  readonly place: number
  /** What this very caller holds: `<owner> <key>`; absent: not known. */
  readonly holding?: readonly string[]
  readonly at?: string
}

export interface ProcessAnswer {
  readonly client: string
  readonly label: string
  readonly host: string
  readonly pid: number
  readonly holds: readonly ProcessHold[]
  readonly waits: readonly ProcessWait[]
  /** Whether the answer leaves something out. */
  readonly cut: boolean
}

/** How long the inspector waits for answers, in ms: that is, after the last one. */
const QUIET = 250
const LONGEST = 2_000
/** A process answers with at most 64 kB. A longer text is no answer of ours. */
const LONGEST_ANSWER = 65_536
const MOST_ANSWERS = 10_000
const MOST_BYTES = 64 * 1_048_576

/**
 * Asks every process that listens, about one key or about all. Only what fits the data in Redis is used of the answers: anyone
 * who may publish could answer. Two different answers for one client id are both dropped.
 */
export async function askProcesses(connection: Connection, key?: string): Promise<ProcessAnswer[]> {
  const id = randomBytes(16).toString('hex')
  const answers = new Map<string, { text: string; answer: ProcessAnswer }>()
  const contradicted = new Set<string>()
  let bytes = 0
  let last = Date.now()
  const heard = (_: string, text: string) => {
    bytes += text.length
    if (text.length > LONGEST_ANSWER || bytes > MOST_BYTES || answers.size >= MOST_ANSWERS) return
    const answer = parseAnswer(text)
    if (!answer) return
    last = Date.now()
    const known = answers.get(answer.client)
    if (known && known.text !== text) contradicted.add(answer.client)
    answers.set(answer.client, { text, answer })
  }
  const missing = 'the processes: the user may not use the channels rlock:inspect and rlock:inspect:*'
  let listening: { close(): void }
  try {
    listening = await connection.listen([`${INSPECT_CHANNEL}:${id}`], heard)
  } catch (error) {
    if (!/NOPERM|unknown command/i.test((error as Error).message)) throw error
    connection.unseen.add(missing)
    return []
  }
  try {
    const [node] = connection.primaries()
    const request = JSON.stringify({ v: 1, id, ...(key !== undefined && { key }) })
    const listeners = await connection.tell(node!, missing, 'publish', INSPECT_CHANNEL, request)
    const started = Date.now()
    // In a cluster the answer to PUBLISH counts only the listeners of one node.
    const enough = () => !connection.isCluster && answers.size >= Number(listeners ?? 0)
    last = started
    while (!enough() && Date.now() - last < QUIET && Date.now() - started < LONGEST) await sleep(10)
  } finally {
    listening.close()
  }
  for (const client of contradicted) {
    answers.delete(client)
    connection.unseen.add('a process: two different answers came for one client id, so both are ignored')
  }
  return [...answers.values()].map(({ answer }) => answer)
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isTime = (value: unknown): value is number => typeof value === 'number' && value >= 0
const list = (value: unknown) => (Array.isArray(value) ? value : [])

/** An answer whose every field has the type that it must have; undefined for anything else. */
export function parseAnswer(text: string): ProcessAnswer | undefined {
  let given: Record<string, unknown>
  try {
    given = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof given !== 'object' || given === null || given.v !== 1) return undefined
  const { client, label, host, pid, cut } = given
  if (!isText(client) || !isText(label) || !isText(host) || !isTime(pid)) return undefined
  const holds = list(given.holds).filter(
    (hold) =>
      isText(hold?.key) &&
      isText(hold.name) &&
      isText(hold.kind) &&
      isText(hold.owner) &&
      isTime(hold.heldFor),
  )
  const waits = list(given.waits).filter(
    (wait) =>
      isText(wait?.key) &&
      isText(wait.name) &&
      isTime(wait.waitingFor) &&
      isTime(wait.place) &&
      (wait.holding === undefined || (Array.isArray(wait.holding) && wait.holding.every(isText))) &&
      (wait.owner === undefined || isText(wait.owner)),
  )
  for (const entry of [...holds, ...waits]) if (!isText(entry.at)) delete entry.at
  for (const hold of holds) if (!isTime(hold.maxHoldTime)) delete hold.maxHoldTime
  return { client, label, host, pid, holds, waits, cut: cut === true }
}
