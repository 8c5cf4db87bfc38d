import type { Row } from './model'
import type { ProcessAnswer, ProcessHold } from './processes'
import { slotsKey } from './read-slots'

const holdKey = (owner: string, key: string) => `${owner}\0${key}`

interface Claim {
  readonly process: ProcessAnswer
  readonly hold: ProcessHold
}

/** What the processes say, found by client, by hold and by key: there may be thousands of each. */
export class Said {
  private readonly clients = new Map<string, ProcessAnswer>()
  /** Undefined where two processes claim one permit. */
  private readonly holds = new Map<string, Claim | undefined>()
  private readonly callers = new Map<string, number>()

  constructor(readonly processes: readonly ProcessAnswer[]) {
    for (const process of processes) {
      this.clients.set(process.client, process)
      for (const hold of process.holds) {
        // A process speaks for its own holds only. A permit has a random id, which its holder alone knows.
        const owner = hold.kind === 'permit' ? `permit:${hold.owner}` : hold.owner
        if (hold.kind === 'permit' || owner.startsWith(`${process.client}:`))
          this.claim(holdKey(owner, hold.key), { process, hold })
      }
      for (const { key } of process.waits) this.callers.set(key, (this.callers.get(key) ?? 0) + 1)
    }
  }

  private claim(key: string, claim: Claim) {
    const known = this.holds.get(key)
    const isFirst = !this.holds.has(key) || known?.process === claim.process
    this.holds.set(key, isFirst ? claim : undefined)
  }

  /** The row with what the server says of hosts and the processes of themselves. Redis says which owners there are. */
  annotated(row: Row, hosts: ReadonlyMap<string, string>): Row {
    const key = row.kind === 'slots' ? slotsKey(row.name) : row.name
    const holders = row.holders.map((holder) => {
      const held = this.holds.get(holdKey(holder.owner, key))
      const process = held?.process ?? this.clients.get(holder.clientId ?? '')
      return {
        ...holder,
        host: hosts.get(holder.clientId ?? process?.client ?? '') ?? null,
        process: process ? `${process.host}:${process.pid}` : null,
        label: holder.label ?? process?.label ?? null,
        heldFor: held?.hold.heldFor ?? null,
        maxHoldTime: held?.hold.maxHoldTime ?? null,
      }
    })
    const callers = this.processes.length > 0 ? (this.callers.get(key) ?? 0) : null
    return { ...row, holders, waiting: { ...row.waiting, callers } }
  }
}
