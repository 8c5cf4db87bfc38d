import type { AcquireArguments } from '../api/arguments'
import type { LockMember } from '../api/errors'
import { unlessAborted, withEither } from '../util/abort'
import type { Moment } from '../util/clock'
import { codeOf } from '../util/error-code'
import { random } from '../util/random'
import { GrantedMembers } from './granted-members'
import type { Member, MemberGroup } from './member'
import { errorsOf, stateOfAnswer } from './member-states'
import { type Answer, type Granted, isTransient, tryMember, Wait } from './try-member'

/**
 * The longest pause between two rounds, in ms. It grows with the rounds, and a random part of it is waited.
 */
const LONGEST_PAUSE = 64
/**
 * Errors of a wait for a member that other owners do not hold. The caller would wait for itself, or a RedLock
 * has no quorum.
 */
const NOT_BY_OTHERS: unknown[] = ['ILLEGAL_MONITOR_STATE', 'LOCK_QUORUM']
/**
 * A call that is not kept waiting by other owners, and yet acquires nothing for this long, in ms, rejects.
 */
const FAILED_AFTER = 10_000

/** An answer with the state of its member for an error: that of a grant as it was before its release. */
export type FullAnswer = Answer & { readonly state: LockMember }

export interface MembersOptions extends AcquireArguments {
  readonly waitTime: number
  /** How long the members count from the first grant, in ms. Undefined: as long as each is held. */
  readonly validFor?: number | undefined
  /** Whether a call returns undefined after its wait, although too few members are available. */
  endsWithoutError(answers: readonly FullAnswer[]): boolean
  /** The error of a call that rejects after these answers. */
  failure(answers: readonly FullAnswer[]): unknown
}

/**
 * One call that acquires members, round after round: what the loops of a multi lock and of a RedLock share.
 *
 * Rounds tell whether a member is failing. A wait for one member tells whether it is refusing: the caller
 * cannot wait for it, such as for a write side that it reads. What an answer makes of its member:
 *
 * | the answer                           | in a round                | in a wait for the member            |
 * | ------------------------------------ | ------------------------- | ----------------------------------- |
 * | granted                              | not failing, not refusing | not refusing                        |
 * | granted, but the round took too long | failing, not refusing     | not refusing                        |
 * | taken                                | not failing               | not refusing                        |
 * | failed                               | failing                   | refusing if NOT_BY_OTHERS, else not |
 * | unheard                              | no change                 | (does not occur)                    |
 *
 * A refusing member answers `taken` in a round of a RedLock, which does not wait. So that ends no refusal.
 *
 * A member is both after it refused and then failed in a round. It counts as one unavailable member, and at
 * once, as a refusing one does. One that only fails counts after FAILED_AFTER, or when the wait is over; if
 * no retry can help, at once. The error after a round tells how the member failed, and the error after a wait
 * tells how it refused.
 */
export class MembersCall {
  readonly wait: Wait
  /** The last such answer of each, and when the first round with such an answer began. */
  private readonly failing = new Map<Member, { readonly since: Moment; readonly answer: FullAnswer }>()
  private readonly refusing = new Map<Member, FullAnswer>()

  constructor(
    readonly group: MemberGroup,
    readonly options: MembersOptions,
  ) {
    this.wait = new Wait(group.client.clock, options.waitTime)
  }

  /**
   * Waits for a member that the client should yield to other processes. A try without a wait would not yield.
   */
  async waitInTurn(most: number): Promise<Granted | undefined> {
    if (this.wait.isOneTry) return undefined
    const member = this.group.members.find((each) => each.mustYield?.())
    return member && (await this.waitFor(member, most))
  }

  /** Waits for one member, and holds nothing meanwhile. */
  private async waitFor(member: Member, most: number): Promise<Granted | undefined> {
    const { group, refusing, options } = this
    const answer = await this.try(member, Math.min(most, this.wait.left))
    if (answer.kind === 'granted') {
      refusing.delete(member)
      return answer
    }
    this.assertWanted()
    if (answer.kind === 'failed' && NOT_BY_OTHERS.includes(codeOf(answer.error)))
      refusing.set(member, withState(answer))
    else refusing.delete(member)
    if (refusing.size > group.spare) throw options.failure([...refusing.values()])
    return undefined
  }

  /**
   * A member may belong to another client, whose queue does not know when the client of this lock shuts down.
   */
  try(member: Member, waitTime: number): Promise<Answer> {
    const { group, options } = this
    if (waitTime <= 0) return tryMember(member, 0, options)
    return withEither(group.client.closing, options.signal, (signal) =>
      tryMember(member, waitTime, { ...options, signal }),
    )
  }

  /**
   * One round. Returns the members if it acquired enough of them. If not, releases them and returns the
   * answers. Throws if a further round would not help, or the caller does not want the lock any more.
   */
  async round(answering: () => Promise<readonly Answer[]>): Promise<GrantedMembers | readonly FullAnswer[]> {
    const { group, options } = this
    const since = group.client.clock.now()
    const answered = await answering()
    const grants = answered.filter((answer) => answer.kind === 'granted')
    const members = new GrantedMembers(group, grants, since, options.validFor)
    if (members.areEnough() && !options.signal?.aborted && !group.client.closing.aborted) return members
    const answers = answered.map(withState)
    for (const answer of answers) this.note(answer, since, grants.length >= group.needed)
    await members.release()
    this.assertWanted()
    const errors = errorsOf([...this.failing.values()].map(({ answer }) => answer))
    const forGood = errors.filter((error) => !isTransient(error)).length
    if (Math.max(forGood, this.unavailable(FAILED_AFTER)) > group.spare)
      throw options.failure(this.lastAnswers(answers))
    return answers
  }

  /** The wait is over. Throws if failures kept the call from the lock. If not, returns undefined. */
  end(answers: readonly FullAnswer[]): undefined {
    if (this.unavailable(0) <= this.group.spare) return
    const last = this.lastAnswers(answers)
    if (!this.options.endsWithoutError(last)) throw this.options.failure(last)
  }

  /**
   * Pauses between two rounds, and waits for a member that another owner holds. The pause is random, so that
   * callers that blocked each other do not do so again.
   */
  async waitAfter(rounds: number, taken: Member | undefined, most: number): Promise<Granted | undefined> {
    const { group, wait, options } = this
    if (wait.isOver) return undefined
    if (rounds > 0) {
      const time = Math.min(wait.left, random() * Math.min(2 ** rounds, LONGEST_PAUSE))
      await unlessAborted(new Promise<void>((over) => group.client.clock.after(time, over)), options.signal)
    }
    return taken && (await this.waitFor(taken, most))
  }

  private note(answer: FullAnswer, since: Moment, isLate: boolean) {
    const { failing, refusing } = this
    const { kind, member } = answer
    if (kind === 'unheard') return
    if (kind === 'granted') refusing.delete(member)
    if (kind === 'taken' || (kind === 'granted' && !isLate)) failing.delete(member)
    else failing.set(member, { since: failing.get(member)?.since ?? since, answer })
  }

  /** How many members refuse, or have been failing for so long in ms. */
  private unavailable(ms: number): number {
    const { group, failing, refusing } = this
    const hasLasted = (since?: Moment) => since && group.client.clock.elapsedSince(since) >= ms
    return group.members.filter((each) => refusing.has(each) || hasLasted(failing.get(each)?.since)).length
  }

  /** Those of the last round, and of failing members that it did not ask or hear. */
  private lastAnswers(answers: readonly FullAnswer[]): FullAnswer[] {
    const last = new Map(answers.map((answer) => [answer.member, answer]))
    for (const [member, { answer }] of this.failing) last.set(member, answer)
    return [...last.values()]
  }

  private assertWanted() {
    this.options.signal?.throwIfAborted()
    this.group.client.assertOpen()
  }
}

function withState(answer: Answer): FullAnswer {
  return { ...answer, state: stateOfAnswer(answer) }
}
