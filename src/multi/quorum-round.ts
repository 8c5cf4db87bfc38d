import { RedisUnavailableError } from '../api/errors'
import { onAbort } from '../util/abort'
import type { Moment, Timer } from '../util/clock'
import type { Member, Union } from './member'
import { failureOf, stateOf } from './member-states'
import { type Answer, type Part, releaseParts, settledWithin, type TryOptions, tryMember } from './try-member'

/** After its verdict, a round waits for open answers as long as it took before, and this many ms more. */
const SHORT_GRACE = 20

/** The result of one round over all members. */
export type Verdict =
  | { readonly kind: 'granted'; readonly parts: readonly Part[] }
  /** Enough members answered, and other owners hold too many of them. */
  | { readonly kind: 'taken' }
  /** Too many members failed: the others are fewer than a quorum. */
  | { readonly kind: 'failed'; readonly errors: readonly unknown[] }

export interface RoundOptions extends TryOptions {
  /** How long a member may take to answer, in ms. */
  readonly bound: number
  /** The longest lease that another owner may have on a member, in ms. */
  readonly lease: number
}

/** Tries all members of a RedLock at once. Its verdict comes as soon as it is certain whether a quorum is granted. */
export class QuorumRound {
  readonly verdict: Promise<Verdict>
  private readonly answers = new Map<Member, Answer>()
  private readonly restarted = new Set<Member>()
  private readonly controller = new AbortController()
  private readonly stopListening: (() => void) | undefined
  private readonly timer: Timer
  private readonly tries: Promise<void>[] = []
  private readonly started: Moment
  private decide!: (verdict: Verdict) => void
  /** Takes a member that is granted after the verdict; answers false if the hold does not accept it. */
  private joinLate: ((part: Part) => boolean) | undefined
  private isDecided = false
  private unsettled: number

  constructor(
    private readonly union: Union,
    private readonly members: readonly Member[],
    options: RoundOptions,
    /** A member that is held already. */
    first: Part | undefined,
  ) {
    this.verdict = new Promise((resolve) => {
      this.decide = resolve
    })
    const { controller } = this
    this.unsettled = members.length
    this.started = union.clock.now()
    const { signal, bound, lease } = options
    this.stopListening = signal && onAbort(signal, () => controller.abort(signal.reason))
    this.timer = union.clock.after(bound, () => controller.abort(unanswered(bound)))
    const how = { ...options, signal: controller.signal }
    for (const member of members)
      if (member === first?.member) this.answered({ kind: 'granted', part: first }, lease)
      else this.tries.push(tryMember(member, 0, how).then((answer) => this.answered(answer, lease)))
  }

  /** Passes to `join` each grant that is not in `known`: the grants since the verdict, and all later ones. */
  acceptLate(known: readonly Part[], join: (part: Part) => boolean): void {
    this.joinLate = join
    for (const part of this.parts)
      if (!known.includes(part) && !join(part)) releaseParts([part], this.union.clock)
  }

  /** Does not wait for open answers any more. A later grant is released. */
  cancel(): void {
    this.joinLate = undefined
    this.controller.abort(new DOMException('the lock is released', 'AbortError'))
    this.finish()
  }

  /** Releases all granted members. Waits a short time for open answers, so that their grants are released, too. */
  async releaseParts(): Promise<void> {
    const { clock } = this.union
    if (this.unsettled > 0 && !this.controller.signal.aborted)
      await settledWithin(this.tries, clock.elapsedSince(this.started) + SHORT_GRACE, clock)
    this.cancel()
    await releaseParts(this.parts, clock)
  }

  /** The members that other owners hold. */
  get taken(): Member[] {
    return this.members.filter((member) => this.answers.get(member)?.kind === 'taken')
  }

  /** The state of each member, for an error. */
  states() {
    return this.members.map((member) => {
      const answer = this.answers.get(member)
      if (this.restarted.has(member)) return stateOf(member, 'restarted')
      if (!answer) return stateOf(member, 'unreachable')
      if (answer.kind === 'granted') return stateOf(member, answer.part.hold.isHeld ? 'held' : 'late')
      if (answer.kind === 'taken') return stateOf(member, 'taken')
      return stateOf(member, failureOf(answer.error), answer.error)
    })
  }

  private get parts(): Part[] {
    return [...this.answers.values()].flatMap((answer) => (answer.kind === 'granted' ? [answer.part] : []))
  }

  private answered(answer: Answer, lease: number) {
    const member = answer.kind === 'granted' ? answer.part.member : answer.member
    if (answer.kind !== 'granted') this.answers.set(member, answer)
    else if (member.identity?.context.server.wasReplacedWithin(lease)) this.refuseRestarted(answer.part)
    else if (this.isDecided && this.controller.signal.aborted) releaseParts([answer.part], this.union.clock)
    else if (!this.isDecided || !this.joinLate) this.answers.set(member, answer)
    else if (!this.joinLate(answer.part)) releaseParts([answer.part], this.union.clock)
    if (--this.unsettled === 0) this.finish()
    if (!this.isDecided) this.decideIfCertain()
  }

  /** A restarted server may have forgotten a holder. Its member does not count until the lease of that holder is over. */
  private refuseRestarted(part: Part) {
    const { member } = part
    this.restarted.add(member)
    releaseParts([part], this.union.clock)
    this.answers.set(member, { kind: 'failed', member, error: restarted() })
  }

  private decideIfCertain() {
    const { members, union } = this
    const { parts, taken } = this
    const errors = [...this.answers.values()].flatMap((answer) =>
      answer.kind === 'failed' ? [answer.error] : [],
    )
    if (parts.length >= union.needed) this.settle({ kind: 'granted', parts })
    else if (members.length - errors.length < union.needed) this.settle({ kind: 'failed', errors })
    else if (members.length - errors.length - taken.length < union.needed) this.settle({ kind: 'taken' })
  }

  private settle(verdict: Verdict) {
    this.isDecided = true
    this.decide(verdict)
  }

  private finish() {
    this.timer.cancel()
    this.stopListening?.()
  }
}

function unanswered(bound: number): RedisUnavailableError {
  return new RedisUnavailableError(
    `the server did not answer within ${Math.round(bound)} ms, which is a tenth of the lease`,
  )
}

function restarted(): RedisUnavailableError {
  return new RedisUnavailableError(
    'the server restarted less than a lease ago, so another client may still hold the lock',
  )
}
