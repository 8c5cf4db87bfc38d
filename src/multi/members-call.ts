import type { AcquireArguments } from '../api/arguments'
import { type LockMember, RedisUnavailableError } from '../api/errors'
import { unlessAborted, withEither } from '../util/abort'
import type { Moment } from '../util/clock'
import { codeOf } from '../util/error-code'
import { random } from '../util/random'
import { GrantedMembers } from './granted-members'
import type { Member, MemberGroup } from './member'
import { stateOfAnswer } from './member-states'
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

/** The error of a member whose answer says nothing, because others hold too many members by then. */
export const ENDED = new RedisUnavailableError('the round had ended before the server answered')

/** An answer, and what it said of its member before a grant was released. */
export type Told = Answer & { readonly state: LockMember }

export interface MembersOptions extends AcquireArguments {
  readonly waitTime: number
  /** How long the members count from the first grant, in ms. Undefined: as long as each is held. */
  readonly validFor?: number | undefined
  /**
   * The error of a call whose members failed, by their last answers; undefined: the lock was not acquired
   * within the wait. `isFinal`: the wait is not over, but a further round would not help.
   */
  failure(answers: readonly Told[], isFinal: boolean): unknown
}

/**
 * One call that acquires members, round after round: what the loops of a multi lock and of a RedLock share.
 */
export class MembersCall {
  readonly wait: Wait
  /** Members whose last answer was an error, or came too late, and when the first of these rounds began. */
  private readonly failing = new Map<Member, { readonly since: Moment; readonly answer: Told }>()
  /**
   * Members for which the caller cannot wait, such as a write side that it reads: it would wait for itself.
   */
  private readonly refusing = new Map<Member, Told>()

  constructor(
    readonly group: MemberGroup,
    readonly options: MembersOptions,
  ) {
    this.wait = new Wait(group.client.clock, options.waitTime)
  }

  /** How many members need not be acquired. */
  get spare(): number {
    return this.group.members.length - this.group.needed
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
    const { refusing } = this
    const answer = await this.try(member, Math.min(most, this.wait.left))
    if (answer.kind === 'granted') {
      refusing.delete(member)
      return answer
    }
    this.assertWanted()
    if (answer.kind === 'failed' && NOT_BY_OTHERS.includes(codeOf(answer.error)))
      refusing.set(member, told(answer))
    else refusing.delete(member)
    if (refusing.size > this.spare) throw this.options.failure([...refusing.values()], true)
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
  async round(answering: () => Promise<readonly Answer[]>): Promise<GrantedMembers | readonly Told[]> {
    const { group, spare, options } = this
    const since = group.client.clock.now()
    const answered = await answering()
    const grants = answered.filter((answer) => answer.kind === 'granted')
    const members = new GrantedMembers(group, grants, since, options.validFor)
    if (members.areEnough() && !options.signal?.aborted && !group.client.closing.aborted) return members
    const answers = answered.map(told)
    for (const answer of answers) this.note(answer, since, grants.length >= group.needed)
    await members.release()
    this.assertWanted()
    const forGood = [...this.failing.values()].filter(
      ({ answer }) => answer.kind === 'failed' && !isTransient(answer.error),
    )
    if (forGood.length > spare || this.unavailable(FAILED_AFTER) > spare) throw this.failure(answers, true)
    return answers
  }

  /** The wait is over. */
  end(answers: readonly Told[]): undefined {
    const error = this.unavailable(0) > this.spare ? this.failure(answers, false) : undefined
    if (error !== undefined) throw error
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

  private note(answer: Told, since: Moment, isLate: boolean) {
    const { failing, refusing } = this
    const { kind, member } = answer
    if (kind === 'granted') refusing.delete(member)
    if (kind === 'failed' && answer.error === ENDED) return
    if (kind === 'taken' || (kind === 'granted' && !isLate)) failing.delete(member)
    else failing.set(member, { since: failing.get(member)?.since ?? since, answer })
  }

  /** How many members cannot be acquired for so long in ms, although other owners do not hold them. */
  private unavailable(ms: number): number {
    const { clock } = this.group.client
    const failing = [...this.failing].filter(([, { since }]) => clock.elapsedSince(since) >= ms)
    return new Set([...failing.map(([member]) => member), ...this.refusing.keys()]).size
  }

  /** By the last answers, also of members that the last round did not ask. */
  private failure(answers: readonly Told[], isFinal: boolean): unknown {
    const last = new Map(answers.map((answer) => [answer.member, answer]))
    for (const [member, { answer }] of this.failing) last.set(member, answer)
    return this.options.failure([...last.values()], isFinal)
  }

  private assertWanted() {
    this.options.signal?.throwIfAborted()
    this.group.client.assertOpen()
  }
}

function told(answer: Answer): Told {
  return { ...answer, state: stateOfAnswer(answer) }
}
