/**
 * The names that Redisson's part `{…}` of a key or channel may stand for. It puts braces around a name without them, so `{x}` stands
 * for `x` and for `{x}`: of two locks with these names, only their own keys tell which of them is there. In Java a name may be empty.
 */
export function namesIn(part: string): string[] {
  const inner = /^\{([^{]*)\}$/s.exec(part)?.[1]
  return [...(inner === undefined ? [] : [inner]), ...(part.includes('{') ? [part] : [])]
}

/** The lists of so many at most, in order. */
export function* inSlices<T>(all: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}
