import {
  classify,
  type FailureKind,
  isCrossSlot,
  isDeclined,
  isLogin,
  withoutSecrets,
} from '../redis/reply/errors'
import type { OutageReporter } from '../redis/reports/outage-reporter'
import { type EndedCall, NOT_READY, refused, unavailable, wrongType } from './call-errors'
import type { ScriptTransport } from './transport'

/** Connection errors and slot migrations that end within this time, in ms, are not reported. */
const REPORTED_AFTER = 1_000

/** What the meaning of a failure depends on, and where failures are reported. */
export interface FailureEnvironment {
  /** The client id and the server, for messages. */
  readonly clientAndServer: string
  readonly transport: ScriptTransport
  /** Receives the connection errors and the transient errors of calls. */
  readonly outages: OutageReporter
  /** Receives the refusals of the server. */
  readonly refusals: OutageReporter
  /** Credentials, which no error may contain. */
  readonly secrets: readonly string[]
  /** Whether credentials that the server refuses are replaced soon. */
  readonly logsInAgain: boolean
  /** The error of each call that is made from now on; undefined while the client is open. */
  readonly closed: unknown
}

export function kindOf(error: unknown, { logsInAgain, transport }: FailureEnvironment): FailureKind {
  const kind = classify(error)
  // A connection that was not accepted may be accepted later, such as after the certificate of the server
  // was replaced.
  const mayPass = (logsInAgain && isLogin(error)) || (kind === 'final' && error === transport.refusal)
  return mayPass ? 'transient' : kind
}

/** A call of which a copy failed. */
type FailedCall = EndedCall & { readonly environment: FailureEnvironment }

/** Reports an error after which the call is sent again. Trouble that soon passes is not reported. */
export function reportRetried(error: unknown, { age, environment }: FailedCall): void {
  const { closed, outages, secrets } = environment
  const isTrouble = isDeclined(error) && error !== NOT_READY.loading
  const isReported = (isTrouble || age >= REPORTED_AFTER) && closed === undefined
  if (isReported) outages.failed(withoutSecrets(error, secrets))
}

/** The error for the caller. A refusal is reported as well. */
export function explain(error: unknown, call: FailedCall): Error {
  const { closed, outages, refusals, secrets, transport } = call.environment
  const kind = kindOf(error, call.environment)
  if (kind === 'wrongtype') return wrongType(call, withoutSecrets(error, secrets))
  if (kind !== 'refused') return unavailable(call)
  const explained = refused(call, withoutSecrets(error, secrets))
  // A connection reports refused credentials as well; the same reporter makes one outage of both.
  const reporter = error === transport.refusal || isLogin(error) ? outages : refusals
  // A renewal of several locks is sent again, by slot (leases/watchdog.ts).
  if (closed === undefined && !isCrossSlot(error)) reporter.failed(explained)
  return explained
}
