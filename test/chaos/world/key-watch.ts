import type { Judge } from '../evidence/judge'
import { micros } from '../evidence/records'
import type { Topology } from './topology'

const EVERY_MS = 200
/** Between the last look that found a key and the first that did not, it may have been taken and freed. */
interface Seen {
  absentSince: number | undefined
  owners: string
  sameOwnersSince: number
}

/**
 * Looks at the keys of the locks in Redis: a free lock before which waiters sleep shows there, and so does
 * one that is kept for nobody.
 */
export class KeyWatch {
  private readonly seen = new Map<string, Seen>()
  private timer: NodeJS.Timeout | undefined
  private looking = false

  constructor(
    private readonly topology: Topology,
    private readonly locks: readonly { name: string; longestLease: number }[],
    private readonly judge: Judge,
  ) {}

  start(): void {
    this.timer = setInterval(() => void this.look(), EVERY_MS)
  }

  stop(): void {
    clearInterval(this.timer)
  }

  private async look() {
    if (this.looking) return
    this.looking = true
    // A look that fails leaves the state unknown: the time of absence starts anew.
    await Promise.all(
      this.locks.map((lock) => this.lookAt(lock).catch(() => this.seen.delete(lock.name))),
    ).finally(() => {
      this.looking = false
    })
  }

  private async lookAt({ name, longestLease }: { name: string; longestLease: number }) {
    const asked = micros()
    const grants = this.judge.locks.get(name)?.grants
    const fields = Object.keys(await this.topology.observer.hgetall(name))
    const owners = fields.sort().join(' ')
    const last = this.seen.get(name)
    const idle = grants === this.judge.locks.get(name)?.grants
    const absentSince = owners === '' && idle ? (last?.absentSince ?? asked) : undefined
    const sameOwnersSince = last?.owners === owners ? last.sameOwnersSince : asked
    this.seen.set(name, { absentSince, owners, sameOwnersSince })
    if (absentSince !== undefined) this.judge.keyAbsent(name, absentSince, asked)
    if (owners !== '' && asked - sameOwnersSince > (longestLease + 3_000) * 1000)
      this.judge.keyHeld(name, owners, sameOwnersSince, asked)
  }
}
