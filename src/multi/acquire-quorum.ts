import { RedisUnavailableError } from '../api/errors'
import { withEither } from '../util/abort'
import { random } from '../util/random'
import { GrantedMembers } from './granted-members'
import type { Member } from './member'
import type { MembersCall } from './members-call'
import { type Answer, type Granted, tryMember } from './try-member'

/**
 * The longest wait for one member that another owner holds, in ms. That member may be one of the spare ones.
 */
const LONGEST_WAIT = 1_000

/**
 * Acquires a quorum of the members, or none. Undefined: the wait was over. `bound`: how long a member may
 * take to answer, in ms.
 *
 * A round tries all members at once. If it fails, the caller waits for a while for one member that another
 * owner holds, and then tries all again.
 */
export async function acquireQuorum(call: MembersCall, bound: number): Promise<GrantedMembers | undefined> {
  const { wait } = call
  const { members, client } = call.group
  const longest = () => LONGEST_WAIT * (0.5 + random() / 2)
  let first = await call.waitInTurn(longest())
  for (let rounds = 0; ; rounds++) {
    const hearsAll = rounds === 0 && !wait.isOneTry
    const answers = await call.round(() => tryAtOnce(call, bound, hearsAll, first))
    if (answers instanceof GrantedMembers) return answers
    // All callers wait for the same member at the same time: each member has its turn.
    const turn = Math.floor(client.clock.now().wall / LONGEST_WAIT) % members.length
    const taken = answers.filter(({ kind }) => kind === 'taken')
    const blocker = taken.find(({ member }) => members.indexOf(member) >= turn) ?? taken[0]
    first = await call.waitAfter(rounds, blocker?.member, longest())
    if (!first && wait.isOver) return call.end(answers)
  }
}

/**
 * One round trip to all servers. No member is waited for, so the order does not matter. `first` is held
 * already.
 *
 * A member whose server is away is not tried where the others suffice. A round ends as soon as others hold
 * too many. Otherwise callers would keep the members of the living servers from each other for the whole
 * bound. The first round of a call that waits hears all members, because one of them may refuse for good.
 */
async function tryAtOnce(
  { group, options }: MembersCall,
  bound: number,
  hearsAll: boolean,
  first: Granted | undefined,
): Promise<readonly Answer[]> {
  const { client, members, spare } = group
  const away = members.filter(isAway)
  const skipped = away.length <= spare ? away : []
  /** How many members this round does not get: those that it skips, and those that others hold. */
  let missing = skipped.length
  const limit = new AbortController()
  const tryOne = async (member: Member, signal: AbortSignal): Promise<Answer> => {
    if (member === first?.member) return first
    if (skipped.includes(member)) return { kind: 'failed', member, error: AWAY }
    const answer = await tryMember(member, 0, { ...options, signal })
    if (answer.kind === 'taken' && ++missing > spare && !hearsAll) limit.abort(ENDED)
    return answer.kind === 'failed' && answer.error === ENDED ? { ...answer, kind: 'unheard' } : answer
  }
  const unanswered = `the server did not answer within ${Math.round(bound)} ms, which is a tenth of the lease`
  const timer = client.clock.after(bound, () => limit.abort(new RedisUnavailableError(unanswered)))
  try {
    return await withEither(limit.signal, options.signal, (signal) =>
      Promise.all(members.map((member) => tryOne(member, signal))),
    )
  } finally {
    timer.cancel()
  }
}

/** The client of the member has lost its server, and connects again in the background. */
function isAway({ server, client }: Member): boolean {
  return server !== undefined && client?.scripts?.isServerAway === true
}

const AWAY = new RedisUnavailableError('the server is away')
const ENDED = new RedisUnavailableError('the round had ended before the server answered')
