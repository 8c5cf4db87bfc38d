import calculateSlot from 'cluster-key-slot'

/** `prefix:{name}`, so that key and companion share a cluster slot; a name with braces brings its own. */
export function prefixed(prefix: string, name: string): string {
  return name.includes('{') ? `${prefix}:${name}` : `${prefix}:{${name}}`
}

/** `{name}:suffix`, with the same exception for names with braces. */
export function suffixed(name: string, suffix: string): string {
  return name.includes('{') ? `${name}:${suffix}` : `{${name}}:${suffix}`
}

/** The channel on which the release of a lock is told. */
export function lockChannel(name: string): string {
  return prefixed('redisson_lock__channel', name)
}

/** The hash field that stands for one holder. */
export function ownerField(clientId: string, threadId: number): string {
  return `${clientId}:${threadId}`
}

/**
 * Whether a lock's key and channel fall into one cluster slot. They do for ordinary names; for names such
 * as `a}b`, `a{b` or `{}x` they do not, and Java fails there with CROSSSLOT.
 */
export function sharesSlotWithChannel(name: string): boolean {
  return calculateSlot(name) === calculateSlot(lockChannel(name))
}
