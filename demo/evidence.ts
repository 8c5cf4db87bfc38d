import { JAVA_PROCESS, type Keys, type Side } from './messages'
import type { ServerCommand } from './server-record'

/** One critical section, from its first command to its last, as the server saw them. */
export interface Section {
  readonly who: string
  readonly thread: string
  /** What the lock was taken for; a plain one where nothing is said. */
  readonly side?: Side
  readonly waitMs: number
  readonly from: number
  /** Undefined while it lasts. */
  to?: number
  /** Another section was open at some time of this one, and they were not two readers. */
  overlaps: boolean
  /** The lock's owner field that stood for this section when it began. */
  readonly owner: string | undefined
}

export type Language = 'Node' | 'Java'
export const LANGUAGES: readonly Language[] = ['Node', 'Java']

/** Replays the server's commands: who was granted the lock, and who was inside. */
export class Evidence {
  readonly sections: Section[] = []
  /** How often a process was granted the lock. */
  grants = 0
  /** Sections that began while another was open, two readers apart. */
  overlaps = 0
  /** Grants while the lock had another owner, two readers apart. */
  doubleGrants = 0
  /** Sections that began without their process owning the lock, or were still open when it was given up. */
  unguarded = 0
  /** Read sections that found the two keys of the record different. */
  tornReads = 0
  /** Ends of sections that never began. */
  strays = 0
  /** From the language that had the lock to the one that had it next; a new turn of the same thread is none. */
  readonly handoffs: Record<Language, Record<Language, number>> = {
    Node: { Node: 0, Java: 0 },
    Java: { Node: 0, Java: 0 },
  }
  /** Turns that a thread or caller took right after its own. */
  keptTurns = 0

  readonly #keys: Keys
  readonly #processes: ReadonlyMap<string, string>
  /** The lock's hash: hold counts by owner field. */
  readonly #owners = new Map<string, number>()
  /** The hash has the field `mode`: it is a read-write lock's. */
  #readWrite = false
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
      this.#readWrite = false
    } else if (command === 'hdel') {
      for (const owner of rest) this.#givenUp(owner)
    } else if (command === 'hset') {
      for (const [field, value] of Object.entries(pairsOf(rest))) {
        if (field === 'mode') this.#readWrite = true
        else this.#counted(field, Number(value))
      }
    } else if (command === 'hincrby') {
      const [owner, by] = rest as [string, string]
      this.#counted(owner, (this.#owners.get(owner) ?? 0) + Number(by))
    }
  }

  #counted(owner: string, count: number): void {
    if (count <= 0) return this.#givenUp(owner)
    if (!this.#owners.has(owner)) {
      this.grants++
      const side = this.#sideOf(owner)
      if ([...this.#owners.keys()].some((other) => !together(side, this.#sideOf(other)))) this.doubleGrants++
    }
    this.#owners.set(owner, count)
  }

  #givenUp(owner: string): void {
    if (!this.#owners.delete(owner)) return
    for (const section of this.#open) if (section.owner === owner) this.unguarded++
  }

  #logged(at: number, entry: LogEntry): void {
    if (entry.event === 'acquired') this.#begin(at, entry)
    else this.#end(at, entry)
  }

  #begin(at: number, entry: LogEntry): void {
    const { who = '', thread = '', waitMs, type } = entry
    const side = type === 'read' || type === 'write' ? type : 'lock'
    const owner = this.#ownerOf(who, side, entry.threadId)
    if (owner === undefined) this.unguarded++
    const company = this.inside.filter((other) => !together(side, other.side))
    const overlaps = company.length > 0
    if (overlaps) this.overlaps++
    for (const other of company) other.overlaps = true
    const section: Section = { who, thread, side, waitMs: Number(waitMs), from: at, overlaps, owner }
    const last = this.sections.at(-1)
    if (last?.who === who && last.thread === thread) this.keptTurns++
    else if (last) this.handoffs[languageOf(last.who)][languageOf(who)]++
    this.#open.add(section)
    this.sections.push(section)
  }

  #end(at: number, { who, thread, first, second }: LogEntry): void {
    const section = this.inside.find((open) => open.who === who && open.thread === thread)
    if (!section) {
      this.strays++
      return
    }
    if (first !== second) this.tornReads++
    section.to = at
    this.#open.delete(section)
  }

  /** The owner field of a process for that side, and of that thread if the log names one. */
  #ownerOf(who: string, side: Side, threadId: string | undefined): string | undefined {
    return [...this.#owners.keys()].find(
      (owner) =>
        this.#processOf(owner) === who &&
        this.#sideOf(owner) === side &&
        (threadId === undefined || owner.split(':')[1] === threadId),
    )
  }

  #sideOf(owner: string): Side {
    if (!this.#readWrite) return 'lock'
    return owner.endsWith(':write') ? 'write' : 'read'
  }

  #processOf(owner: string): string | undefined {
    return this.#processes.get(owner.slice(0, owner.indexOf(':')))
  }
}

export function languageOf(who: string): Language {
  return who === JAVA_PROCESS ? 'Java' : 'Node'
}

/** Who may be inside at once. */
function together(side: Side, other: Side | undefined): boolean {
  return side === 'read' && other === 'read'
}

type LogEntry = Record<string, string>

/** XADD's arguments after the key: options, the id, then fields and values. */
function fieldsOf(rest: readonly string[]): LogEntry {
  return pairsOf(rest.slice(rest.indexOf('*') + 1))
}

function pairsOf(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(words.flatMap((field, i) => (i % 2 === 0 ? [[field, words[i + 1] ?? '']] : [])))
}
