import type { Address } from '../../../kit/servers/index'
import { processOf } from '../evidence/sections'
import type { Login } from './topology'
import { onEvery } from './topology'

/** The user of the Java worker. */
export const JAVA = 'java'

const PASSWORD = 'chaos'
const ALL_RIGHTS = ['~*', '&*', '+@all']

/** For a slow script to be answered by BUSY after 50 ms rather than five seconds. */
export const BUSY_SOON = 'lua-time-limit 50'

/** A worker and its successors log in as one user. */
export const loginOf = (worker: string): Login => ({ username: processOf(worker), password: PASSWORD })

/** Lines of a server's configuration that know these users. */
export const userLines = (users: readonly string[]): string[] =>
  users.map((user) => `user ${user} on >${PASSWORD} ${ALL_RIGHTS.join(' ')}`)

/** Changes what a worker may do, by rules of ACL SETUSER, on all of these servers. */
export async function changeRights(
  nodes: readonly Address[],
  worker: string,
  rules: readonly string[],
): Promise<void> {
  await onEvery(nodes, 'ACL', 'SETUSER', processOf(worker), ...rules)
}

export const restoreRights = (nodes: readonly Address[], worker: string): Promise<void> =>
  changeRights(nodes, worker, ALL_RIGHTS)
