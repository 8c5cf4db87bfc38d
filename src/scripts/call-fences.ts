import type { BrokenConnection } from '../redis/send/fences'

/** The connections that broke after a copy of one call was sent on them: it waits for the fence of each. */
export type CallFences = readonly BrokenConnection[]

export const NO_FENCES: CallFences = []

/**
 * A connection broke just now on which a command was sent. `server`: the one of its key by now. If the slot
 * has moved since the command was sent, either server may have received it. The old server may never come
 * back, so the call waits for a fence of the new one only. A command that the server of the slot passed on by
 * ASK is not fenced: docs/evidence/reliability.md says what a copy of it can still do.
 *
 * `before`: the last connection that had broken before the command was sent.
 */
export function fencesAfter(before: BrokenConnection, server: string): CallFences {
  const fences: BrokenConnection[] = []
  for (let each = before.next; each; each = each.next) if (each.server === server) fences.push(each)
  return fences
}

export function isFencePending(fences: CallFences): boolean {
  return fences.some(({ isPending }) => isPending)
}

/**
 * Calls back once no copy can arrive any more, or once no fence can ensure that. Before that the client
 * neither resends nor undoes the command.
 */
export function whenFenced(fences: CallFences, callback: () => void): void {
  const pending = fences.find(({ isPending }) => isPending)
  if (pending) pending.whenSettled(() => whenFenced(fences, callback))
  else callback()
}
