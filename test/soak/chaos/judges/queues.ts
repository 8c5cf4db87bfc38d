import type { Disturbances } from '../evidence/disturbances'
import type { EvidenceRecord } from '../evidence/records'
import { ms } from '../evidence/sections'
import { SPECS } from '../plan/catalogue'
import type { Finding } from './finding'

interface Passed {
  readonly worker: string
  readonly caller: string
  readonly wantAt: number
  readonly inAt: number
}

const KEPT = 2_000

/**
 * The order of a fair lock. Judged is who came in: the server had said that it is in the queue, no fault touched its
 * client from before that on, and yet a caller came in before it that asked only after the server had said so. Who gave up, and who may have lost its
 * place to a fault, is no witness.
 */
export class QueueJudge {
  /** When the server had said that they are in the queue, by owner. */
  private readonly placedAt = new Map<string, number>()
  private readonly wantedAt = new Map<string, number>()
  private came: Passed[] = []
  /** How many sections had a confirmed place, and no excuse. */
  witnesses = 0

  constructor(
    readonly name: string,
    private readonly disturbances: Disturbances,
  ) {}

  record(record: EvidenceRecord): Finding[] {
    const { event, worker, caller, owner, at } = record
    const key = `${worker}|${caller}`
    if (event === 'place') this.placedAt.set(owner!, at)
    if (event === 'want') this.wantedAt.set(key, at)
    if (event !== 'in') return []
    const wantAt = this.wantedAt.get(key) ?? at
    this.wantedAt.delete(key)
    const placedAt = owner === undefined ? undefined : this.placedAt.get(owner)
    const findings = placedAt === undefined ? [] : this.judge(record, wantAt, placedAt)
    if (owner !== undefined) this.placedAt.delete(owner)
    this.came.push({ worker, caller, wantAt, inAt: at })
    if (this.came.length > KEPT) this.came = this.came.slice(-KEPT / 2)
    if (this.placedAt.size > 10 * KEPT) this.placedAt.delete(this.placedAt.keys().next().value!)
    return findings
  }

  private judge({ worker, caller, at }: EvidenceRecord, wantAt: number, placedAt: number): Finding[] {
    if (this.disturbances.touching(worker, wantAt, at).length > 0) return []
    this.witnesses++
    const passed = this.came.filter((other) => other.wantAt > placedAt && other.inAt > placedAt)
    const [first] = passed
    if (!first) return []
    const what =
      `${worker} ${caller} was in the queue of ${this.name} for ${ms(at - placedAt)} while ${passed.length} came in that ` +
      `asked later: first ${first.worker} ${first.caller}, who asked ${ms(first.wantAt - placedAt)} after it had its place`
    return [{ kind: 'overtaken', at, what, worker }]
  }
}

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
