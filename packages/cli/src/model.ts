/** What the tool says of one object: the line of `rlock ls --json`. What is not known is null, and never guessed. */
export interface Row {
  readonly name: string
  readonly kind: Kind
  /** Of a read-write lock. */
  readonly mode: 'read' | 'write' | null
  /** What is left of the key in ms; -1: no expiry; null: no key. */
  readonly ttl: number | null
  readonly holders: Holder[]
  /** How many more holders it has than `holders` lists. */
  readonly moreHolders: number
  readonly waiting: Waiting
  /** Permits that are free, the count of a latch, or the term of a leader. */
  readonly value: number | null
}

export type Kind =
  | 'lock'
  | 'fenced'
  | 'fair'
  | 'read-write'
  | 'token'
  | 'semaphore'
  | 'permit-expirable-semaphore'
  | 'latch'
  | 'rate-limiter'
  | 'election'
  | 'slots'
  | 'semaphore-or-latch'

export const KINDS: readonly Kind[] = [
  'lock',
  'fenced',
  'fair',
  'read-write',
  'token',
  'semaphore',
  'permit-expirable-semaphore',
  'latch',
]

export interface Holder {
  /** The field in Redis. Of a token lock it is `sha1:` and the hash: the token itself could free the lock. */
  readonly owner: string
  readonly clientId: string | null
  /** Java takes any 64-bit number: a text where JavaScript has no such number. */
  readonly threadId: number | string | null
  /** How many levels; the number of a slot; null for an object that does not count. */
  readonly count: number | null
  readonly ttl: number | null
  host: string | null
  process: string | null
  label: string | null
  /** In ms. */
  heldFor: number | null
  /** In ms. */
  maxHoldTime: number | null
}

export interface Waiting {
  /** How many clients listen on the channel. */
  readonly processes: number | null
  /** How many callers wait in the processes that answer. */
  readonly callers: number | null
  /** How many places the queue of a fair lock has. */
  readonly queue: number | null
}

/** Java's reactive and coroutine users pass random thread ids, half of them negative. */
export const THREAD_ID = '-?\\d+'
const OWNER = new RegExp(`^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):(${THREAD_ID})(:.*)?$`)

/** The parts of an owner field; undefined if it is none. */
export function parseOwner(field: string): { clientId: string; threadId: number | string } | undefined {
  const [, clientId, text = ''] = OWNER.exec(field) ?? []
  if (clientId === undefined) return undefined
  const id = Number(text)
  return { clientId, threadId: Number.isSafeInteger(id) && String(id) === text ? id : text }
}

export const isCount = (text: string | null | undefined): text is string => /^-?\d{1,15}$/.test(text ?? '')

export function newHolder(owner: string, count: number | null, ttl: number | null): Holder {
  const { clientId = null, threadId = null } = parseOwner(owner) ?? {}
  const unknown = { host: null, process: null, label: null, heldFor: null, maxHoldTime: null }
  return { owner, clientId, threadId, count, ttl, ...unknown }
}
