import type { AcquireArguments } from '../api/arguments'
import { LockLostError } from '../api/errors'
import { onAbort } from '../util/abort'
import { quote } from '../util/quote'
import { random } from '../util/random'
import { type Member, toYield, type Union } from './member'
import { describeStates, stateOf } from './member-states'
import { isTransient, type Part, pause, releaseParts, tryMember, Wait } from './try-member'

/**
 * How long a round waits while it holds members, in ms. It waits only for members that come later in the global order, so
 * processes cannot wait for each other in a circle. A Java peer has its own order: it gets its turn when this time is over.
 */
const LONGEST_WAIT_WHILE_HOLDING = 40
/** The longest random pause after a failed round, in ms, so that callers that blocked each other do not do so again. */
const LONGEST_JITTER = 64
const TRIES_TO_OUTRUN_LEASE = 10

/** The result of a round: all members, or the member that it could not acquire. */
type Round = { readonly parts: readonly Part[] } | { readonly blocker: Member; readonly error: unknown }

/** Acquires all members of a multi lock, or none. Undefined when the wait was over. */
export async function collectAll(
  union: Union,
  members: readonly Member[],
  options: AcquireArguments,
): Promise<readonly Part[] | undefined> {
  const { signal } = options
  const wait = new Wait(union.clock, options.waitTime)
  const collector = new Collector(union, members, options, wait)
  let round = wait.isOneTry ? await collector.inOrder(undefined) : await collector.atOnceUnlessYielding()
  let expired = 0
  for (let rounds = 1; ; rounds++) {
    let blocker = members[0]!
    if ('parts' in round) {
      if (round.parts.every(({ hold }) => hold.isHeld)) return round.parts
      await releaseParts(round.parts, union.clock)
      if (++expired === TRIES_TO_OUTRUN_LEASE) throw tooShort(union, round.parts)
    } else {
      blocker = round.blocker
      if (round.error !== undefined && (wait.isOver || !isTransient(round.error))) throw round.error
    }
    signal?.throwIfAborted()
    if (wait.isOver) return undefined
    if (rounds > 1) await pause(Math.min(jitter(rounds), wait.left), union.clock, signal)
    // The long wait is in the member's own queue. Meanwhile no other member is held.
    const first = await tryMember(blocker, wait.left, options)
    if (first.kind === 'taken') return undefined
    if (first.kind === 'failed') throw first.error
    round = await collector.inOrder(first.part)
  }
}

class Collector {
  constructor(
    private readonly union: Union,
    private readonly members: readonly Member[],
    private readonly options: AcquireArguments,
    private readonly wait: Wait,
  ) {}

  /** Tries all members at once, unless this client should yield one to other processes. Then it waits for that one first. */
  async atOnceUnlessYielding(): Promise<Round> {
    const blocker = toYield(this.members)
    return blocker ? { blocker, error: undefined } : await this.atOnce()
  }

  /** One round trip to all servers. No member is waited for, so the order does not matter. */
  private async atOnce(): Promise<Round> {
    const { options, members } = this
    const controller = new AbortController()
    const stop = options.signal && onAbort(options.signal, () => controller.abort(options.signal?.reason))
    const how = { ...options, signal: controller.signal }
    const answers = await Promise.all(
      members.map(async (member) => {
        const answer = await tryMember(member, 0, how)
        // The round does not wait for the other members: a late grant is released by `tryMember`.
        if (answer.kind === 'failed' && !isTransient(answer.error)) controller.abort(answer.error)
        return answer
      }),
    )
    stop?.()
    const parts = answers.flatMap((answer) => (answer.kind === 'granted' ? [answer.part] : []))
    if (parts.length === members.length) return { parts }
    await releaseParts(parts, this.union.clock)
    const failures = answers.filter((answer) => answer.kind === 'failed')
    const failure = failures.find(({ error }) => !isTransient(error))
    if (failure) return { blocker: failure.member, error: controller.signal.reason ?? failure.error }
    const taken = answers.find((answer) => answer.kind === 'taken')
    return { blocker: (taken ?? failures[0]!).member, error: taken ? undefined : failures[0]!.error }
  }

  /** Acquires the members one after the other. `first` is held already; members before it in the order get one try only. */
  async inOrder(first: Part | undefined): Promise<Round> {
    const { members, options, union, wait } = this
    const parts = first ? [first] : []
    const from = first ? members.indexOf(first.member) : -1
    const mayWait = new Wait(union.clock, longestWaitWhileHolding(options.leaseTime))
    for (const [index, member] of members.entries()) {
      if (index === from) continue
      const waitTime = index > from && !wait.isOneTry ? Math.min(mayWait.left, wait.left) : 0
      const answer = await tryMember(member, waitTime, options)
      if (answer.kind === 'granted') {
        parts.push(answer.part)
        continue
      }
      await releaseParts(parts, union.clock)
      return { blocker: member, error: answer.kind === 'failed' ? answer.error : undefined }
    }
    return { parts }
  }
}

/** How long a round may wait while it holds members: at most a tenth of the lease. */
function longestWaitWhileHolding(leaseTime = Number.MAX_SAFE_INTEGER): number {
  return Math.min(LONGEST_WAIT_WHILE_HOLDING * (0.5 + random() / 2), leaseTime / 10)
}

function jitter(rounds: number): number {
  return random() * Math.min(2 ** rounds, LONGEST_JITTER)
}

function tooShort({ name, clientId }: Union, parts: readonly Part[]): LockLostError {
  const members = parts.map(({ member, hold }) => stateOf(member, hold.isHeld ? 'held' : 'late'))
  const error = new LockLostError(
    `All members of ${quote(name)} were acquired ${TRIES_TO_OUTRUN_LEASE} times in a row, and each time the lease of one ` +
      `was over before the last one answered (client ${clientId}; ${describeStates(members)}). Use a longer leaseTime.`,
    name,
  )
  error.members = members
  return error
}
