import calculateSlot from 'cluster-key-slot'

export { calculateSlot as slotOf }

/** `prefix:{name}`, so that the result shares a cluster slot with the key. A name with braces gets no more braces. */
export function prefixed(prefix: string, name: string): string {
  return name.includes('{') ? `${prefix}:${name}` : `${prefix}:{${name}}`
}

/** `{name}:suffix`, with the same exception for names with braces. */
export function suffixed(name: string, suffix: string): string {
  return name.includes('{') ? `${name}:${suffix}` : `{${name}}:${suffix}`
}

/** The channel on which the release of a lock is published. */
export function lockChannel(name: string): string {
  return prefixed('redisson_lock__channel', name)
}

/** The channel on which the release of either side of a read-write lock is published. */
export function readWriteLockChannel(name: string): string {
  return prefixed('redisson_rwlock', name)
}

/** The channel on which both kinds of semaphores publish. */
export function semaphoreChannel(name: string): string {
  return prefixed('redisson_sc', name)
}

/** How the names of the channels of latches begin. They are the only channels to which Redisson adds no colon. */
export const LATCH_CHANNEL = 'redisson_countdownlatch__channel__'

/** The channel on which a latch publishes. Redisson always adds braces to this name. */
export function latchChannel(name: string): string {
  return `${LATCH_CHANNEL}{${name}}`
}

/** The channel on which the release of a token lock is published. */
export function tokenLockChannel(key: string): string {
  return prefixed('rlock_token', key)
}

/** The channel on which an inspector asks the processes what they hold. They answer on `rlock:inspect:<id of the request>`. */
export const INSPECT_CHANNEL = 'rlock:inspect'

export function isReadWriteLockChannel(channel: string): boolean {
  return channel.startsWith('redisson_rwlock:')
}

/** The parts before and after an owner field in the names of read timeout keys. The number of the level comes last. */
export function readTimeoutParts(name: string): { readonly before: string; readonly behind: string } {
  return { before: suffixed(name, ''), behind: ':rwlock_timeout:' }
}

/** The hash field that stands for one holder. */
export function ownerField(clientId: string, threadId: number): string {
  return `${clientId}:${threadId}`
}

/**
 * Whether a lock's key, channel and read timeout keys are in one cluster slot. For ordinary names they are. For names such as
 * `a}b`, `a{b` or `{}x` they are not, and Java fails with CROSSSLOT.
 */
export function sharesSlotWithCompanions(name: string): boolean {
  const slot = calculateSlot(name)
  return (
    slot === calculateSlot(prefixed('channel', name)) && slot === calculateSlot(suffixed(name, 'timeout'))
  )
}
