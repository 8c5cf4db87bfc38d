import type { Excuse, FaultInjected, Time } from './history'

export interface Touched {
  readonly client?: string
  readonly name?: string
  readonly server?: string
}

/** What was broken when, and what docs/guarantees.md excuses by it. */
export class Faults {
  private readonly byExcuse = new Map<Excuse, FaultInjected[]>()

  constructor(readonly all: readonly FaultInjected[]) {
    for (const fault of all)
      for (const excuse of fault.excuses) {
        const others = this.byExcuse.get(excuse)
        if (others) others.push(fault)
        else this.byExcuse.set(excuse, [fault])
      }
  }

  /** The first fault with this excuse that touches it within the time. */
  find(excuse: Excuse, touched: Touched, from: Time, to: Time): FaultInjected | undefined {
    return this.byExcuse
      .get(excuse)
      ?.find((fault) => fault.at <= to && endOf(fault) >= from && touches(fault, touched))
  }

  excuses(excuse: Excuse, touched: Touched, from: Time, to: Time): boolean {
    return this.find(excuse, touched, from, to) !== undefined
  }

  /** The longest time in a row, in ms, in which no such fault lasts or recovers. */
  longestQuiet(excuse: Excuse, touched: Touched, from: Time, to: Time): number {
    let [longest, quietSince] = [0, from]
    for (const fault of this.byExcuse.get(excuse) ?? []) {
      if (fault.at > to) break
      if (endOf(fault) < quietSince || !touches(fault, touched)) continue
      longest = Math.max(longest, fault.at - quietSince)
      quietSince = Math.max(quietSince, endOf(fault))
    }
    return Math.max(longest, to - quietSince)
  }
}

/** When its traces are gone. */
export function endOf({ at, until, recovery }: FaultInjected): Time {
  return Math.max(at, until ?? at) + recovery
}

function touches(fault: FaultInjected, { client, name, server }: Touched): boolean {
  if (client !== undefined && fault.clients && !fault.clients.includes(client)) return false
  if (name !== undefined && fault.names && !fault.names.includes(name)) return false
  return !(server !== undefined && fault.server !== undefined && fault.server !== server)
}
