import calculateSlot from 'cluster-key-slot'

export { calculateSlot as slotOf }

/**
 * `prefix:{name}`, so that the result shares a cluster slot with the key. A name with braces gets no more
 * braces.
 */
export function prefixed(prefix: string, name: string): string {
  return name.includes('{') ? `${prefix}:${name}` : `${prefix}:{${name}}`
}

/** `{name}:suffix`, with the same exception for names with braces. */
export function suffixed(name: string, suffix: string): string {
  return name.includes('{') ? `${name}:${suffix}` : `{${name}}:${suffix}`
}

/**
 * The beginning of the keys that remember requests to a semaphore or a latch. Redisson's names put braces
 * around a name without them, so `x` and `{x}` would share these keys.
 */
export function requestsKey(name: string): string {
  const isInBraces = name.lastIndexOf('{') === 0 && name.endsWith('}')
  return isInBraces ? `rlock_requests::${name}` : prefixed('rlock_requests', name)
}

/**
 * Whether a lock's key, channel and read timeout keys are in one cluster slot. For ordinary names they are.
 * For names such as `a}b`, `a{b` or `{}x` they are not, and Java fails with CROSSSLOT.
 */
export function sharesSlotWithCompanions(name: string): boolean {
  const slot = calculateSlot(name)
  return [prefixed('channel', name), suffixed(name, 'timeout')].every((each) => calculateSlot(each) === slot)
}
