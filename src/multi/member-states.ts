import { LockLostError, type LockMember, type LockMemberState } from '../api/errors'
import { codeOf } from '../util/error-code'
import { messageOf, quote } from '../util/quote'
import type { Member, MemberGroup } from './member'
import type { Answer } from './try-member'

const LONGEST_MESSAGE = 200

/** The state of a member, as plain data for an error. */
export function stateOf(member: Member, state: LockMemberState, error?: unknown): LockMember {
  const lockName = member.name
  return error === undefined ? { lockName, state } : { lockName, state, error: plain(error) }
}

/** The state of a member after a try. */
export function stateOfAnswer(answer: Answer): LockMember {
  const { kind, member } = answer
  if (kind === 'granted') return stateOf(member, answer.hold.isHeld ? 'held' : 'late')
  return kind === 'taken' ? stateOf(member, 'taken') : stateOf(member, failureOf(answer.error), answer.error)
}

export function errorsOf(answers: readonly Answer[]): unknown[] {
  return answers.flatMap((answer) => ('error' in answer ? [answer.error] : []))
}

/** The state of a member that failed. */
export function failureOf(error: unknown): LockMemberState {
  return codeOf(error) === 'REDIS_UNAVAILABLE' ? 'unreachable' : 'failed'
}

/** `"a" lost, "b" released`: for messages. */
export function describeStates(members: readonly LockMember[]): string {
  return members.map(({ lockName, state }) => `${quote(lockName)} ${state}`).join(', ')
}

/** `errors`: of the members, among others. */
export function lossError(
  { name, client, needed }: MemberGroup,
  threadId: number,
  members: readonly LockMember[],
  errors: readonly unknown[],
): LockLostError {
  const error = new LockLostError(
    `The lock ${quote(name)} was lost (client ${client.clientId}): ${describeStates(members)}; ${needed} ` +
      'must be held. Other clients may hold the lost members: stop working under the lock, and acquire it ' +
      'again where needed.',
    name,
    threadId,
  )
  error.reason = errors.find((each) => each instanceof LockLostError)?.reason
  return Object.assign(error, { members })
}

function plain(error: unknown): { code?: string; message: string } {
  const code = codeOf(error)
  const text = cut(messageOf(error).replace(/\b[\w+]+:\/\/\S+/g, '(URL)'))
  return code === undefined ? { message: text } : { code, message: text }
}

export function cut(text: string): string {
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text
}
