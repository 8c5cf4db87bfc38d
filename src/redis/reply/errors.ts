import { withoutStack } from '../../util/without-stack'

/** The kind of an error, for the sender of the command. */
export type FailureKind =
  /** The connection broke or never existed: the command may or may not have been applied. */
  | 'connection'
  /** The server declined for now (LOADING, READONLY, CLUSTERDOWN …). The same command may succeed soon. */
  | 'transient'
  /** The server does not know the script by its hash. */
  | 'noscript'
  /** The key holds something else. */
  | 'wrongtype'
  /**
   * The server refused and would refuse again: a missing right, wrong credentials, a command it does not
   * know.
   */
  | 'refused'
  /** Not a reply of the server, and a retry would not help. */
  | 'final'

/** The connection is not there, or a command waited for it for too long: nothing was sent. */
export const NOT_SENT = new Error('Connection is closed')

/**
 * The server refused SELECT when a connection was opened. The connection is closed and opened again later.
 */
export class SelectRefusedError extends Error {
  // ioredis gives this name to the error replies of a server.
  override readonly name = 'ReplyError'

  constructor(db: number, reply: string) {
    super(`${reply.replace(/\.$/, '')}: the connection is not in database ${db} and is not used`)
  }
}

const TRANSIENT =
  /\b(LOADING|READONLY|CLUSTERDOWN|TRYAGAIN|BUSY|MASTERDOWN|NOREPLICAS|NOGOODSLAVE|UNBLOCKED|OOM|MISCONF)\b|access a non local key|max number of clients|(credentials|tls) function failed|has not finished the handshake|^(MOVED|ASK) |WAIT cannot be used with replica/
/** Transient errors that usually end only when an operator acts. */
const SHORTAGE = /\b(OOM|MISCONF|NOREPLICAS)\b/
const REFUSED =
  /\b(NOPERM|NOAUTH|WRONGPASS|DENIED)\b|\b[Uu]nknown (\w+ )?(sub)?command\b|user executing the script can't/
/** The arguments that the server quotes when it does not know a command. */
const QUOTED = /,? with args beginning with:.*$/s
/** The error of ioredis after its own retries. */
const REDIRECTED_TOO_OFTEN = /^Too many Cluster redirections\. Last error: (?:\w*Error: )?(.+)$/s
const MOVING = /\b(MOVED|ASK|TRYAGAIN)\b|access a non local key/
const RETRIES_ARE_OURS = /^Reached the max retries per request limit/
const CONNECTION =
  /Connection is closed|Cluster is ended|None of startup nodes|Failed to refresh slots|Too many Cluster redirections|Stream isn't writeable|Cluster isn't ready|aborted due to connection close|max retries per request|All sentinels are unreachable|Socket timeout|Socket closed/i
const CONNECTION_CODE =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ECONNABORTED)$/

const TLS_FAILED = 'TLS failed: '
/** The codes of Node for a certificate that is not trusted, and for a peer that does not speak TLS. */
const TLS_CODE =
  /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERROR_IN_C|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH_)/

export function classify(error: unknown): FailureKind {
  const { message: given = '', code = '' } = error as { message?: string; code?: string }
  const message = (REDIRECTED_TOO_OFTEN.exec(given)?.[1] ?? given).replace(QUOTED, '')
  // Before everything else: a refusal of rights quotes the name of the user, which may be any word.
  if (message.startsWith('NOPERM')) return 'refused'
  if (message.startsWith('NOSCRIPT')) return 'noscript'
  if (message.includes('WRONGTYPE')) return 'wrongtype'
  if (CONNECTION_CODE.test(code) || CONNECTION.test(message)) return 'connection'
  if (REFUSED.test(message)) return 'refused'
  if (TRANSIENT.test(message)) return 'transient'
  return isReplyError(error) ? 'refused' : 'final'
}

/** Whether the server answered with this error. ioredis gives it this name. */
export function isReplyError(error: unknown): error is Error {
  return (error as Error).name === 'ReplyError'
}

/** The error may be the cause of another one, which not every error has. */
function says(pattern: RegExp): (error: unknown) => boolean {
  return (error) => pattern.test((error as Error | undefined)?.message ?? '')
}

/**
 * Whether a script ended at a key that a slot migration had moved away. Its earlier commands have taken
 * effect.
 */
export const scriptBrokeOff = says(/access a non local key/)

/** Whether the error came from within a script, so that its earlier commands may have taken effect. */
export const cameFromScript = says(/user_script/)

/** Whether a proxy before a cluster refused a call because its keys are in several slots. */
export const isCrossSlot = says(/CROSSSLOT/)

/** Whether the user may not access a key of the call. */
export const isKeyRefused = says(/(NOPERM|user executing).*\bkeys?\b/s)

/**
 * Whether the keys of the call may be on two nodes, because their slot moves: each node sends the call to the
 * other one.
 */
export const isHalfMoved = says(/\bTRYAGAIN\b|Too many Cluster redirections/)

/** Whether the server has no Lua: EVAL is disabled or renamed, or Valkey runs without its Lua module. */
export const lacksScripts = says(/unknown command\W+eval(sha)?\b|scripting engine/i)

/** Whether the node takes its cluster for down: it may be cut off from the others, or may have left them. */
export const isClusterDown = says(/^CLUSTERDOWN /)

/** Whether the server refused the credentials. */
export const isLogin = says(/\b(NOAUTH|WRONGPASS)\b/)

/** Whether the server does not know the command, or this user may not use it. */
export function isCommandRefused(error: unknown): boolean {
  return classify(error) === 'refused' && !isLogin(error) && !(error instanceof SelectRefusedError)
}

/**
 * Whether the server lacks memory, disk or replicas. The client waits for these as long as for a connection.
 */
export function isShortage(error: unknown): boolean {
  return classify(error) === 'transient' && SHORTAGE.test((error as Error).message)
}

/**
 * Whether the server declines for a reason of its own (LOADING, READONLY, OOM …), not because a slot
 * migrates.
 */
export function isDeclined(error: unknown): boolean {
  return classify(error) === 'transient' && !MOVING.test((error as Error).message)
}

/** `reason`: what OpenSSL says of an alert of the server, without places in its code. */
function tlsFailed({ message, code, reason = message }: Error & { code: string; reason?: string }): string {
  const isCertificate = /CERT|SELF_SIGNED|ISSUER|UNKNOWN_CA/.test(code)
  const advice = isCertificate ? ' (where certificates change, give tls as a function)' : ''
  return TLS_FAILED + reason + advice
}

/**
 * A copy of an error of ioredis that is safe to show. The original contains the command with its arguments,
 * and the arguments of HELLO or AUTH contain the password.
 */
export function withoutSecrets(error: unknown, secrets: readonly string[]): Error {
  const { message = String(error), code } = error as { message?: string; code?: string }
  // The text of ioredis names an option that the caller did not set, and that of OpenSSL does not name TLS.
  const named =
    TLS_CODE.test(code ?? '') && !message.startsWith(TLS_FAILED) ? tlsFailed(error as never) : message
  const plain = RETRIES_ARE_OURS.test(named) ? 'Connection is closed.' : named
  // A server that does not know HELLO or AUTH quotes the arguments, cut to some length.
  let text = plain.replace(QUOTED, '').replace(/\.$/, '')
  for (const secret of secrets) text = text.replaceAll(secret, '***')
  const copy = withoutStack(() => new Error(text))
  if (code !== undefined) Object.assign(copy, { code })
  return copy
}
