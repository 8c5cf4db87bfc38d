import type { AcquireArguments } from '../api/arguments'
import { type LockMember, RedisUnavailableError } from '../api/errors'
import type { Client } from '../client/client'
import { unlessAborted, withEither } from '../util/abort'
import type { Moment } from '../util/clock'
import { codeOf } from '../util/error-code'
import { random } from '../util/random'
import type { Member, MemberGroup } from './member'
import { stateOfAnswer } from './member-states'
import { MembersHold } from './members-hold'
import { type Answer, type Granted, isTransient, releaseParts, tryMember, Wait } from './try-member'

/** How long a round waits for members while it holds others: at least so many ms, and so much of the time waited before. */
const WAIT_WHILE_HOLDING = 40
const PART_OF_TIME_WAITED = 1 / 4
const LONGEST_WAIT_WHILE_HOLDING = 5_000
/** The longest pause between two rounds, in ms. It grows with the rounds, and a random part of it is waited. */
const LONGEST_PAUSE = 64
/** The longest wait for one member that another owner holds, in ms, where that member may be one of the spare ones. */
const LONGEST_WAIT_FOR_SPARE = 1_000
/** Errors of a wait for a member that other owners do not hold. The caller would wait for itself, or a RedLock has no quorum. */
const NOT_BY_OTHERS: unknown[] = ['ILLEGAL_MONITOR_STATE', 'LOCK_QUORUM']
/** A call that is not kept waiting by other owners, and yet acquires nothing for this long, in ms, rejects. */
const FAILED_AFTER = 10_000

export interface MemberOptions extends AcquireArguments {
  /** Where not all members are needed, they are tried at once, and each may take this long to answer, in ms. */
  readonly bound: number | undefined
  /** How long a hold counts from the start of its round, in ms. Undefined: as long as its members. */
  readonly validFor: number | undefined
  /** The error of a call whose members failed; undefined: the lock was not acquired within the wait. */
  failure(round: FailedRound): unknown
}

/** A member that cannot be acquired, although other owners do not hold it. */
interface Failing {
  readonly since: Moment
  /** From then to its last answer, in ms. */
  readonly lasted: number
  /** A retry would not help, so it need not answer again. */
  readonly isForGood: boolean
  readonly answer: Answer
}

/** A round without enough members, although other owners do not hold too many. */
export interface FailedRound {
  readonly errors: readonly unknown[]
  readonly states: readonly LockMember[]
  /** Enough members were acquired, but too little of their leases was left. */
  readonly isLate: boolean
  readonly isWaitOver: boolean
}

/**
 * Acquires so many of the members as are needed, or none. Undefined: the wait was over.
 *
 * A round tries the members. If it acquires too few, it releases all of them. Then the caller waits in the queue of one member
 * that another owner holds, and holds nothing meanwhile. With that member it begins the next round.
 */
export async function acquireMembers(
  group: MemberGroup,
  options: MemberOptions,
): Promise<MembersHold | undefined> {
  const { context, members, needed } = group
  const { clock } = context
  const { signal, validFor } = options
  const spare = members.length - needed
  const wait = new Wait(clock, options.waitTime)
  /** Members whose last answer was an error, or came too late. */
  const failing = new Map<Member, Failing>()
  /** Members that are not worth a wait: such as a write side that the caller reads, for it would wait for itself. */
  const refusing = new Map<Member, Extract<Answer, { kind: 'failed' }>>()
  // A try without a wait would not yield. So the client waits for a member that it should yield to other processes.
  const toYield = wait.isOneTry ? undefined : members.find(({ identity }) => identity?.mustYield())
  let first = toYield && (await waitFor(toYield))
  for (let rounds = 0; ; rounds++) {
    const since = clock.now()
    // Callers that need all members would keep them from each other, so they take them in the global order.
    const isBounded = options.bound !== undefined && (spare > 0 || wait.isOneTry)
    const isAtOnce = isBounded || (rounds === 0 && !first && !wait.isOneTry)
    const answers = isAtOnce
      ? await tryAtOnce(group, options, rounds > 0 || wait.isOneTry, first)
      : await tryInOrder(group, options, first, wait)
    const parts = answers.filter((answer) => answer.kind === 'granted')
    const valid = parts.filter(({ hold }) => hold.isHeld)
    if (valid.length >= needed && !signal?.aborted && !context.closing.aborted) {
      const hold = new MembersHold(group, valid, since, validFor)
      if (hold.isHeld) {
        const late = parts.filter((part) => !valid.includes(part))
        void releaseParts(late, clock)
        return hold
      }
    }
    const isLate = parts.length >= needed
    for (const answer of answers) note(answer, since, isLate)
    const round = whatFailed(answers)
    await releaseParts(parts, clock)
    signal?.throwIfAborted()
    context.assertOpen()
    const taken = answers.filter((answer) => answer.kind === 'taken')
    const isFinal = [...failing.values()].filter(({ isForGood }) => isForGood).length > spare
    const isFailed = isFinal || unavailable(hasFailed) > spare
    // A RedLock says that others hold too many members, whatever the rest answers.
    const isTaken = unavailable() <= spare || (options.bound !== undefined && taken.length > spare)
    if (isFailed || wait.isOver) {
      if (!isFailed && isTaken) return undefined
      const error = options.failure({ ...round, isLate, isWaitOver: wait.isOver })
      if (error !== undefined) throw error
      return undefined
    }
    if (rounds > 0) {
      // Random, so that callers that blocked each other do not do so again.
      const pause = Math.min(wait.left, random() * Math.min(2 ** rounds, LONGEST_PAUSE))
      await unlessAborted(new Promise<void>((over) => clock.after(pause, over)), signal)
    }
    // All callers wait for the same member, so that its next holder finds the other members free.
    const turn = spare === 0 ? 0 : Math.floor(clock.now().wall / LONGEST_WAIT_FOR_SPARE) % members.length
    const blocker = taken.find(({ member }) => members.indexOf(member) >= turn) ?? taken[0]
    first = blocker && (await waitFor(blocker.member))
    if (!first && taken.length > spare && isTaken && wait.isOver) return undefined
  }

  /** `since`: when its round began. */
  function note(answer: Answer, since: Moment, isLate: boolean) {
    const { kind, member } = answer
    if (kind === 'failed' && answer.error === ENDED) return
    if (kind === 'taken' || (kind === 'granted' && !isLate)) failing.delete(member)
    else {
      const began = failing.get(member)?.since ?? since
      const isForGood = kind === 'failed' && !isTransient(answer.error)
      const lasted = clock.elapsedSince(began)
      failing.set(member, { since: began, lasted, isForGood, answer })
    }
  }

  function hasFailed({ isForGood, since, lasted }: Failing): boolean {
    return (isForGood ? clock.elapsedSince(since) : lasted) >= FAILED_AFTER
  }

  /** How many members cannot be acquired, although other owners do not hold them. */
  function unavailable(isMeant: (each: Failing) => boolean = () => true): number {
    const meant = [...failing].filter(([, each]) => isMeant(each)).map(([member]) => member)
    return new Set([...meant, ...refusing.keys()]).size
  }

  /** The last answers, and what members answered that were not asked again. */
  function whatFailed(answers: readonly Answer[]) {
    const last = new Map(answers.map((answer) => [answer.member, answer]))
    for (const [member, { answer }] of failing) last.set(member, answer)
    const known = [...last.values()]
    const errors = known.flatMap((answer) => (answer.kind === 'failed' ? [answer.error] : []))
    return { errors, states: known.map(stateOfAnswer) }
  }

  async function waitFor(member: Member): Promise<Granted | undefined> {
    const most = spare === 0 ? wait.left : Math.min(wait.left, LONGEST_WAIT_FOR_SPARE * atRandom())
    const answer = await waitForMember(context, member, most, options)
    if (answer.kind === 'granted') return answer
    signal?.throwIfAborted()
    context.assertOpen()
    if (answer.kind === 'failed' && NOT_BY_OTHERS.includes(codeOf(answer.error))) refusing.set(member, answer)
    else refusing.delete(member)
    if (refusing.size <= spare) return undefined
    const answers = [...refusing.values()]
    const errors = answers.map(({ error }) => error)
    throw options.failure({ errors, states: answers.map(stateOfAnswer), isLate: false, isWaitOver: false })
  }
}

/**
 * One round trip to all servers. No member is waited for, so the order does not matter. `first` is held already.
 *
 * With a bound, a member whose server is away is not tried where the others suffice. A round ends as soon as others hold too many,
 * but the first round of a call that waits hears all members, because one of them may refuse for good. Otherwise callers would
 * keep the members of the living servers from each other for the whole bound.
 */
async function tryAtOnce(
  { context, members, needed }: MemberGroup,
  options: MemberOptions,
  mayEnd: boolean,
  first?: Granted,
) {
  const { bound, signal } = options
  const away = bound === undefined ? [] : members.filter(isAway)
  const isAwaySpare = members.length - away.length >= needed
  let left = isAwaySpare ? members.length - away.length : members.length
  const tryOne = async (member: Member, how: AcquireArguments): Promise<Answer> => {
    if (isAwaySpare && away.includes(member)) return { kind: 'failed', member, error: AWAY }
    const answer = await tryMember(member, 0, how)
    if (answer.kind === 'taken' && --left < needed && mayEnd) limit.abort(ENDED)
    return answer
  }
  const tryAll = (how: AcquireArguments) =>
    Promise.all(members.map((member) => (member === first?.member ? first : tryOne(member, how))))
  const limit = new AbortController()
  if (bound === undefined) return await tryAll(options)
  const unanswered = `the server did not answer within ${Math.round(bound)} ms, which is a tenth of the lease`
  const timer = context.clock.after(bound, () => limit.abort(new RedisUnavailableError(unanswered)))
  try {
    return await withEither(limit.signal, signal, (either) => tryAll({ ...options, signal: either }))
  } finally {
    timer.cancel()
  }
}

/** The client of the member has lost its server, and connects again in the background. */
function isAway({ identity }: Member): boolean {
  return identity?.server !== undefined && identity.client.scripts?.isServerAway === true
}

const AWAY = new RedisUnavailableError('the server is away')
/** Others hold so many members that the answers of the rest say nothing. */
const ENDED = new RedisUnavailableError('the round had ended before the server answered')

/** The member may belong to another client. Its queue does not know when the client of the multi lock shuts down. */
function waitForMember({ closing }: Client, member: Member, waitTime: number, options: AcquireArguments) {
  if (waitTime <= 0) return tryMember(member, waitTime, options)
  return withEither(closing, options.signal, (signal) => tryMember(member, waitTime, { ...options, signal }))
}

/**
 * Acquires the members one after the other, up to one that it does not get. It waits only for members that come later in
 * the order than those that it holds, so processes cannot wait for each other in a circle. A Java peer has its own order: it
 * gets its turn when this wait is over. The wait grows with the rounds, so that the sections of other owners fit into it.
 */
async function tryInOrder(
  { context, members }: MemberGroup,
  options: MemberOptions,
  first: Granted | undefined,
  wait: Wait,
): Promise<readonly Answer[]> {
  const { leaseTime = Number.MAX_SAFE_INTEGER } = options
  const grown = Math.max(WAIT_WHILE_HOLDING, wait.elapsed * PART_OF_TIME_WAITED)
  const most = Math.min(grown, LONGEST_WAIT_WHILE_HOLDING, leaseTime / 3)
  const mayWait = new Wait(context.clock, most * atRandom())
  const answers: Answer[] = first ? [first] : []
  const from = first ? members.indexOf(first.member) : -1
  for (const [index, member] of members.entries()) {
    if (index === from) continue
    const waitTime = index > from && !wait.isOneTry ? Math.min(mayWait.left, wait.left) : 0
    const answer = await waitForMember(context, member, waitTime, options)
    answers.push(answer)
    if (answer.kind !== 'granted') break
  }
  return answers
}

/** A factor between a half and one. */
function atRandom(): number {
  return 0.5 + random() / 2
}
