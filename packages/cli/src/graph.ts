import type { Connection } from './connection'
import type { ProcessAnswer, ProcessHold, ProcessWait } from './processes'

/** One caller of a cycle: it holds `holds` and waits for `waits`, which the next caller holds. */
export interface Blocked {
  readonly client: string
  readonly label: string
  readonly holds: { readonly name: string; readonly owner: string; readonly at: string | null }
  readonly waits: { readonly name: string; readonly since: number; readonly at: string | null }
}

/** A caller that waits and holds something meanwhile. */
export interface Caller {
  readonly process: ProcessAnswer
  readonly wait: ProcessWait
  readonly holds: readonly ProcessHold[]
}

/**
 * The cycles of callers that wait for each other. Each process says of a waiting caller what that very caller holds, so that two
 * requests of one process are not taken for one caller. A hold counts only if Redis has it: a process could lie.
 */
export async function deadlocks(
  connection: Connection,
  processes: readonly ProcessAnswer[],
): Promise<Blocked[][]> {
  const found: Blocked[][] = []
  for (const cycle of cyclesOf(callersOf(processes))) {
    const blocked = cycle.map((caller, at) => describe(caller, cycle.at(at - 1)!))
    if (await areInRedis(connection, blocked)) found.push(blocked)
  }
  return found
}

function callersOf(processes: readonly ProcessAnswer[]): Caller[] {
  const holds = new Map<string, ProcessHold>()
  for (const { client, holds: all } of processes)
    for (const hold of all) if (hold.owner.startsWith(client)) holds.set(`${hold.owner} ${hold.key}`, hold)
  return processes.flatMap((process) =>
    process.waits.flatMap((wait) => {
      const held = (wait.holding ?? []).flatMap((each) => holds.get(each) ?? [])
      return held.length > 0 ? [{ process, wait, holds: held }] : []
    }),
  )
}

/**
 * Cycles of which no two share a caller. The walk goes from callers to the key that each waits for, and from keys to the callers
 * that hold them, so that its work grows with callers and holds, and not with their pairs. It has no recursion: a chain of waits
 * may be longer than the stack.
 */
export function cyclesOf(callers: readonly Caller[]): Caller[][] {
  const holding = new Map<string, Caller[]>()
  for (const caller of callers)
    for (const { key } of caller.holds) {
      const known = holding.get(key)
      if (known) known.push(caller)
      else holding.set(key, [caller])
    }
  /** By key: how many of its holders were tried. */
  const tried = new Map<string, number>()
  const settled = new Set<Caller>()
  const cycles: Caller[][] = []
  for (const start of callers) {
    if (settled.has(start)) continue
    const path: Caller[] = []
    /** Where on the path a caller is, and behind which caller the holders of a key come. */
    const [places, waited] = [new Map<Caller, number>(), new Map<string, number>()]
    const leave = (count: number) => {
      for (let left = count; left > 0; left--) {
        const caller = path.pop()!
        settled.add(caller)
        places.delete(caller)
        if (waited.get(caller.wait.key) === path.length + 1) waited.delete(caller.wait.key)
      }
    }
    const enter = (caller: Caller) => {
      places.set(caller, path.length)
      path.push(caller)
      const behind = waited.get(caller.wait.key)
      if (behind === undefined) waited.set(caller.wait.key, path.length)
      else close(behind)
    }
    const close = (from: number) => {
      cycles.push(path.slice(from))
      leave(path.length - from)
    }
    enter(start)
    while (path.length > 0) {
      const { key } = path.at(-1)!.wait
      const next = tried.get(key) ?? 0
      const blocker = holding.get(key)?.[next]
      tried.set(key, next + 1)
      if (blocker === undefined) leave(1)
      else if (places.has(blocker)) close(places.get(blocker)!)
      else if (!settled.has(blocker)) enter(blocker)
    }
  }
  return cycles
}

function describe({ process, wait, holds }: Caller, before: Caller): Blocked {
  const hold = holds.find(({ key }) => key === before.wait.key)!
  return {
    client: process.client,
    label: process.label,
    holds: { name: hold.key, owner: hold.owner, at: hold.at ?? null },
    waits: { name: wait.key, since: wait.waitingFor, at: wait.at ?? null },
  }
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
