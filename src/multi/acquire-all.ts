import { random } from '../util/random'
import { GrantedMembers } from './granted-members'
import type { MembersCall } from './members-call'
import { type Answer, type Granted, Wait } from './try-member'

/**
 * How long a round waits for members while it holds others: at least so many ms, and so much of the time
 * waited before.
 */
const WAIT_WHILE_HOLDING = 40
const PART_OF_TIME_WAITED = 1 / 4
const LONGEST_WAIT_WHILE_HOLDING = 5_000

/**
 * Acquires all members, or none. Undefined: the wait was over.
 *
 * The first round tries all members at once. If it fails, the caller waits for the first member that another
 * owner holds. With that member it begins the next round, which takes the others in the global order: callers
 * that need all members would keep them from each other.
 */
export async function acquireAll(call: MembersCall): Promise<GrantedMembers | undefined> {
  const { wait } = call
  const { members } = call.group
  let first = await call.waitInTurn(wait.left)
  for (let rounds = 0; ; rounds++) {
    const isAtOnce = rounds === 0 && !first && !wait.isOneTry
    const answers = await call.round(() =>
      isAtOnce ? Promise.all(members.map((member) => call.try(member, 0))) : tryInOrder(call, first),
    )
    if (answers instanceof GrantedMembers) return answers
    // All callers wait for the same member, so that its next holder finds the other members free.
    const taken = answers.find(({ kind }) => kind === 'taken')
    first = await call.waitAfter(rounds, taken?.member, wait.left)
    if (!first && wait.isOver) return call.end(answers)
  }
}

/**
 * Acquires the members one after the other, up to one that it does not get. It waits only for members that
 * come later in the order than those that it holds, so processes cannot wait for each other in a circle. A
 * Java peer has its own order: it gets its turn when this wait is over. The wait grows with the rounds, so
 * that the sections of other owners fit into it.
 */
async function tryInOrder(call: MembersCall, first: Granted | undefined): Promise<readonly Answer[]> {
  const { wait, group, options } = call
  const { client, members } = group
  const { leaseTime, maxHoldTime = client.options.maxHoldTime } = options
  const lease = leaseTime ?? maxHoldTime ?? Number.MAX_SAFE_INTEGER
  const grown = Math.max(WAIT_WHILE_HOLDING, wait.elapsed * PART_OF_TIME_WAITED)
  const most = Math.min(grown, LONGEST_WAIT_WHILE_HOLDING, lease / 3, wait.left)
  const mayWait = new Wait(client.clock, most * (0.5 + random() / 2))
  const answers: Answer[] = first ? [first] : []
  const from = first ? members.indexOf(first.member) : -1
  for (const [index, member] of members.entries()) {
    if (index === from) continue
    const answer = await call.try(member, index > from ? mayWait.left : 0)
    answers.push(answer)
    if (answer.kind !== 'granted') break
  }
  return answers
}
