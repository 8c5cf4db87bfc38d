import { JAVA_PROCESS, type Keys } from './messages'
import type { ServerCommand } from './server-record'

/** One critical section, from its first command to its last, as the server saw them. */
export interface Section {
  readonly who: string
  readonly thread: string
  readonly waitMs: number
  readonly from: number
  /** Undefined while it lasts. */
  to?: number
  /** Another section was open at some time of this one. */
  overlaps: boolean
  /** The lock's owner field when it began. */
  readonly owner: string | undefined
}

export type Language = 'Node' | 'Java'
export const LANGUAGES: readonly Language[] = ['Node', 'Java']

/** Replays the server's commands: who was granted the lock, and who was inside. */
export class Evidence {
  readonly sections: Section[] = []
  /** How often a process was granted the lock. */
  grants = 0
  /** Sections that began while another was open. */
  overlaps = 0
  /** Grants while the lock had another owner. */
  doubleGrants = 0
  /** Sections that began without their process owning the lock, or were still open when it was given up. */
  unguarded = 0
  /** Ends of sections that never began. */
  strays = 0
  /** From the language that had the lock to the one that had it next; a new turn of the same thread is none. */
  readonly handoffs: Record<Language, Record<Language, number>> = {
    Node: { Node: 0, Java: 0 },
    Java: { Node: 0, Java: 0 },
  }
  /** Turns that a thread or flow took right after its own. */
  keptTurns = 0

  readonly #keys: Keys
  readonly #processes: ReadonlyMap<string, string>
  /** The lock's hash: hold counts by owner field. */
  readonly #owners = new Map<string, number>()
  readonly #open = new Set<Section>()

  /** `processes` maps Redisson client ids, the first part of an owner field, to names of processes. */
  constructor(keys: Keys, processes: ReadonlyMap<string, string>) {
    this.#keys = keys
    this.#processes = processes
  }

  add({ at, args }: ServerCommand): void {
    const [command, key, ...rest] = args as [string, string, ...string[]]
    if (key === this.#keys.log && command.toLowerCase() === 'xadd') this.#logged(at, fieldsOf(rest))
    if (key === this.#keys.lock) this.#lockChanged(command.toLowerCase(), rest)
  }

  get inside(): readonly Section[] {
    return [...this.#open]
  }

  #lockChanged(command: string, rest: readonly string[]): void {
    if (command === 'del' || command === 'unlink') {
      for (const owner of this.#owners.keys()) this.#givenUp(owner)
    } else if (command === 'hdel') {
      for (const owner of rest) this.#givenUp(owner)
    } else if (command === 'hincrby') {
      const [owner, by] = rest as [string, string]
      const count = (this.#owners.get(owner) ?? 0) + Number(by)
      if (count <= 0) return this.#givenUp(owner)
      if (!this.#owners.has(owner)) {
        this.grants++
        if (this.#owners.size > 0) this.doubleGrants++
      }
      this.#owners.set(owner, count)
    }
  }

  #givenUp(owner: string): void {
    this.#owners.delete(owner)
    for (const section of this.#open) if (section.owner === owner) this.unguarded++
  }

  #logged(at: number, { who = '', thread = '', event, waitMs }: Record<string, string>): void {
    if (event === 'acquired') this.#begin(at, who, thread, Number(waitMs))
    else this.#end(at, who, thread)
  }

  #begin(at: number, who: string, thread: string, waitMs: number): void {
    const owner = [...this.#owners.keys()].find((field) => this.#processOf(field) === who)
    if (owner === undefined) this.unguarded++
    const overlaps = this.#open.size > 0
    if (overlaps) this.overlaps++
    for (const other of this.#open) other.overlaps = true
    const section: Section = { who, thread, waitMs, from: at, overlaps, owner }
    const last = this.sections.at(-1)
    if (last?.who === who && last.thread === thread) this.keptTurns++
    else if (last) this.handoffs[languageOf(last.who)][languageOf(who)]++
    this.#open.add(section)
    this.sections.push(section)
  }

  #end(at: number, who: string, thread: string): void {
    const section = this.inside.find((open) => open.who === who && open.thread === thread)
    if (!section) {
      this.strays++
      return
    }
    section.to = at
    this.#open.delete(section)
  }

  #processOf(owner: string): string | undefined {
    return this.#processes.get(owner.slice(0, owner.indexOf(':')))
  }
}

export function languageOf(who: string): Language {
  return who === JAVA_PROCESS ? 'Java' : 'Node'
}

/** XADD's arguments after the key: options, the id, then fields and values. */
function fieldsOf(rest: readonly string[]): Record<string, string> {
  const pairs = rest.slice(rest.indexOf('*') + 1)
  return Object.fromEntries(pairs.flatMap((field, i) => (i % 2 === 0 ? [[field, pairs[i + 1] ?? '']] : [])))
}
