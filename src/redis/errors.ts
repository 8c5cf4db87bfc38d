/** What a failed command means for its sender. */
export type FailureKind =
  /** The connection broke or was never there: the command may or may not have been applied. */
  | 'connection'
  /** The server declined for now (LOADING, READONLY, CLUSTERDOWN …): the same command may pass soon. */
  | 'transient'
  /** The server does not know the script by its hash. */
  | 'noscript'
  /** The key holds something else. */
  | 'wrongtype'
  /** The server refused and would refuse again: a missing right, wrong credentials, a command it does not know. */
  | 'refused'
  /** No reply of the server, and sending it again would not help. */
  | 'final'

const TRANSIENT =
  /\b(LOADING|READONLY|CLUSTERDOWN|TRYAGAIN|BUSY|MASTERDOWN|NOREPLICAS|NOGOODSLAVE|UNBLOCKED|OOM|MISCONF)\b|access a non local key|max number of clients/
/** Transient errors that as a rule end only when an operator acts. */
const SHORTAGE = /\b(OOM|MISCONF|NOREPLICAS)\b/
const REFUSED =
  /\b(NOPERM|NOAUTH|WRONGPASS|DENIED)\b|\b[Uu]nknown (\w+ )?(sub)?command\b|user executing the script can't/
/** The server quotes what came with a command that it does not know. */
const QUOTED = /,? with args beginning with:.*$/s
const REDIRECTED = /^(MOVED|ASK) /
/** What ioredis says when it has tried again often enough by itself. */
const REDIRECTED_TOO_OFTEN = /^Too many Cluster redirections\. Last error: (?:\w*Error: )?(.+)$/s
const MOVING = /\b(MOVED|ASK|TRYAGAIN)\b|access a non local key/
const RETRIES_ARE_OURS = /^Reached the max retries per request limit/
/** The answer to WAIT of a primary that has become a replica. */
const DEMOTED = /WAIT cannot be used with replica/
const CONNECTION =
  /Connection is closed|Cluster is ended|None of startup nodes|Failed to refresh slots|Too many Cluster redirections|Stream isn't writeable|Cluster isn't ready|aborted due to connection close|max retries per request|All sentinels are unreachable|Socket timeout|Socket closed/i
const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNABORTED',
])

export function classify(error: unknown): FailureKind {
  const { message: given = '', code } = error as { message?: string; code?: string }
  const message = (REDIRECTED_TOO_OFTEN.exec(given)?.[1] ?? given).replace(QUOTED, '')
  if (message.includes('NOSCRIPT')) return 'noscript'
  if (message.includes('WRONGTYPE')) return 'wrongtype'
  if (code !== undefined && CONNECTION_CODES.has(code)) return 'connection'
  if (CONNECTION.test(message)) return 'connection'
  if (REFUSED.test(message)) return 'refused'
  if (TRANSIENT.test(message) || REDIRECTED.test(message) || DEMOTED.test(message)) return 'transient'
  return (error as Error).name === 'ReplyError' ? 'refused' : 'final'
}

/** Whether a script broke off at a key that a slot migration had moved away. What it did before that stays done. */
export function scriptBrokeOff(error: unknown): boolean {
  return (error as Error).message.includes('access a non local key')
}

/** The error came from within a script, so that what the script did before may have been applied. */
export function cameFromScript(error: unknown): boolean {
  return (error as Error).message.includes('user_script')
}

/** The server refused the credentials. */
export function isLogin(error: unknown): boolean {
  return /\b(NOAUTH|WRONGPASS)\b/.test((error as Error).message)
}

/** Out of memory, disk or replicas: waited for as long as for a connection, and no longer. */
export function isShortage(error: unknown): boolean {
  return classify(error) === 'transient' && SHORTAGE.test((error as Error).message)
}

/** Whether the server declines for a reason of its own (LOADING, READONLY, OOM …), not because a slot migrates. */
export function isDeclined(error: unknown): boolean {
  return classify(error) === 'transient' && !MOVING.test((error as Error).message)
}

/**
 * A copy of an error of ioredis that is safe to show. Theirs carries the command with its arguments, and
 * with HELLO or AUTH those are the password.
 */
export function withoutSecrets(error: unknown, secrets: readonly string[]): Error {
  const { message = String(error), code } = error as { message?: string; code?: string }
  // In its own words ioredis would speak of an option that is not the caller's.
  const plain = RETRIES_ARE_OURS.test(message) ? 'Connection is closed.' : message
  // A server that does not know HELLO or AUTH quotes what came with it, cut to some length.
  let text = plain.replace(QUOTED, '')
  for (const secret of secrets) text = text.replaceAll(secret, '***')
  const copy = new Error(text)
  if (code !== undefined) Object.assign(copy, { code })
  return copy
}
