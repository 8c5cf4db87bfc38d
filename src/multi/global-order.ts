import type { Member } from './member'

/**
 * The members in the order in which every process acquires them. The key comes first, because two processes
 * may know one server by two addresses.
 */
export function inGlobalOrder(members: readonly Member[]): Member[] {
  const addressOf = ({ server }: Member) => server?.address ?? ''
  return [...members].sort((a, b) => compare(a.key, b.key) || compare(addressOf(a), addressOf(b)))
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
