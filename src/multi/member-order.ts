import type { Member } from './member'

/** The members in the order in which every process acquires them. */
export function inGlobalOrder(members: readonly Member[]): Member[] {
  return [...members].sort((a, b) => compare(keyOf(a), keyOf(b)) || compare(addressOf(a), addressOf(b)))
}

/** The key comes first, because two processes may know one server by two addresses. */
export function keyOf({ name, identity }: Member): string {
  return identity?.key ?? name
}

function addressOf({ identity }: Member): string {
  return identity?.server?.address ?? ''
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
