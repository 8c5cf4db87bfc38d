import type { Disturbances } from '../evidence/disturbances'
import type { EvidenceRecord } from '../evidence/records'
import { SPECS } from '../plan/catalogue'
import type { Finding } from './finding'

/** Tokens of a fenced lock rise from section to section. One that comes late says so by a fault that touches it. */
export class TokenJudge {
  private last: { readonly token: number; readonly worker: string; readonly at: number } | undefined
  private readonly wantedAt = new Map<string, number>()
  /** How many were compared. */
  compared = 0

  constructor(
    readonly name: string,
    private readonly disturbances: Disturbances,
  ) {}

  record({ event, worker, caller, token, at }: EvidenceRecord): Finding[] {
    const key = `${worker}|${caller}`
    if (event === 'want') this.wantedAt.set(key, at)
    if (event !== 'in' || token === undefined) return []
    const wantAt = this.wantedAt.get(key) ?? at
    const { last } = this
    const isForgotten =
      !last || this.disturbances.touching(undefined, last.at, at).some(({ kind }) => SPECS[kind].losesData)
    if (isForgotten || token > last.token) this.last = { token, worker, at }
    if (isForgotten) return []
    this.compared++
    if (token > last.token) return []
    const cameLate = this.disturbances.touching(worker, wantAt, at).length > 0
    if (token < last.token && cameLate) return []
    const what = `${worker} ${caller} came into ${this.name} with the token ${token} after ${last.worker} with ${last.token}`
    return [{ kind: 'token', at, what, worker }]
  }
}
