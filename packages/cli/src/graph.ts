import type { Connection } from './connection'
import type { ProcessAnswer, ProcessHold, ProcessWait } from './processes'

/** One caller of a cycle: it holds `holds` and waits for `waits`, which the next caller holds. */
export interface Blocked {
  readonly client: string
  readonly label: string
  readonly holds: { readonly name: string; readonly owner: string; readonly at: string | null }
  readonly waits: { readonly name: string; readonly since: number; readonly at: string | null }
}

interface Caller {
  readonly process: ProcessAnswer
  readonly wait: ProcessWait
}

const heldBy = ({ owner, key }: ProcessHold) => `${owner} ${key}`

/**
 * The cycles of callers that wait for each other. Each process says of a waiting caller what that very caller holds, so that two
 * requests of one process are not taken for one caller. A hold counts only if Redis has it: a process could lie.
 */
export async function deadlocks(
  connection: Connection,
  processes: readonly ProcessAnswer[],
): Promise<Blocked[][]> {
  const holds = new Map<string, { process: ProcessAnswer; hold: ProcessHold }>()
  for (const process of processes)
    for (const hold of process.holds)
      if (hold.owner.startsWith(process.client)) holds.set(heldBy(hold), { process, hold })
  const callers: Caller[] = processes.flatMap((process) =>
    process.waits.filter(({ holding }) => (holding?.length ?? 0) > 0).map((wait) => ({ process, wait })),
  )
  const blockers = (caller: Caller) =>
    callers.filter((other) =>
      other.wait.holding!.some((held) => holds.get(held)?.hold.key === caller.wait.key),
    )
  const found: Blocked[][] = []
  const settled = new Set<Caller>()
  for (const start of callers) {
    const path: Caller[] = []
    const visit = (caller: Caller): Caller[] | undefined => {
      const at = path.indexOf(caller)
      if (at >= 0) return path.slice(at)
      if (settled.has(caller)) return undefined
      path.push(caller)
      for (const next of blockers(caller)) {
        const cycle = visit(next)
        if (cycle) return cycle
      }
      path.pop()
      settled.add(caller)
      return undefined
    }
    const cycle = visit(start)
    if (!cycle) continue
    for (const caller of cycle) settled.add(caller)
    const blocked = cycle.map((caller, at): Blocked => {
      const before = cycle[(at + cycle.length - 1) % cycle.length]!
      const held = caller.wait.holding!.find((each) => holds.get(each)?.hold.key === before.wait.key)!
      const { hold } = holds.get(held)!
      const { process, wait } = caller
      return {
        client: process.client,
        label: process.label,
        holds: { name: hold.key, owner: hold.owner, at: hold.at ?? null },
        waits: { name: wait.key, since: wait.waitingFor, at: wait.at ?? null },
      }
    })
    if (await areInRedis(connection, blocked)) found.push(blocked)
  }
  return found
}

async function areInRedis(connection: Connection, blocked: readonly Blocked[]): Promise<boolean> {
  const answers = await Promise.all(
    blocked.map(async ({ holds: { name, owner } }) => {
      const missing = 'whether the holds of a deadlock are still there: the right to HEXISTS is missing'
      return await connection.tell(connection.primaryOf(name), missing, 'hexists', name, owner)
    }),
  )
  return answers.every((answer) => answer === 1)
}
