/**
 * What stands in Redis for one holder or waiter: the id of the client and that of the thread, as Java writes
 * them.
 */
export function ownerField(clientId: string, threadId: number | string): string {
  return `${ownersOfClient(clientId)}${threadId}`
}

/** How the owner fields of all holders and waiters of a client begin. */
export function ownersOfClient(clientId: string): string {
  return `${clientId}:`
}
