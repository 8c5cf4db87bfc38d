import {
  Admission,
  blocked,
  type Client,
  type Next,
  type Outcome,
  type TryReply,
  type Waiters,
} from 'rlock/internal'
import { acquire, type Granted } from './acquire-grant'
import { byOwners, type Kind, LeasedObject } from './leased-object'
import { script } from './script'

/** The result of a run as the server has it; the fingerprint is empty where it has none. */
interface Stored {
  readonly value: string
  readonly fingerprint: string
}

/** Begun, or the stored result. */
interface Begun {
  readonly stored: Stored | undefined
}

/** A run excludes all others. Its result is for all waiters. */
class OneRun extends Admission {
  override next(
    { value, sent }: TryReply,
    { lease = Number.POSITIVE_INFINITY }: { lease?: number },
    waiters: Waiters,
  ): Next {
    if (!value.granted) return { sleepFor: value.blockedFor }
    const { stored } = value.grant as Begun
    if (!stored) return { sleepFor: lease }
    for (const waiter of [...waiters]) if (waiter.joined.monotonic <= sent.monotonic) waiter.grant({ stored })
    return 'more may enter'
  }
}

const ONE_RUN = new OneRun()

const RUNS: Kind = {
  ...{ kind: 'once', what: 'the run', prefix: 'rlock_once', shared: false, admission: () => ONE_RUN },
  ...byOwners('once'),
}

/** See lua/once/begin.lua. */
const BEGIN = script('once/begin', (raw): Outcome<Begun> => {
  const [answer, value, fingerprint] = raw as [number, (string | number)?, string?]
  if (answer === 0) return blocked(Number(value))
  const stored = answer === 1 ? undefined : { value: String(value), fingerprint: fingerprint ?? '' }
  return { granted: true, grant: { stored } }
})
const FINISH = script('once/finish', Number)

/** How long the client goes on to store a result that no replica has acknowledged, in ms. */
const STORED_FOR = 60_000

/** Begins a run, or waits for the result of one that goes on. Undefined: the wait was over. */
export async function begin(
  client: Client,
  key: string,
  waitTime: number,
  signal?: AbortSignal,
): Promise<(Granted<Begun> & { readonly run: LeasedObject }) | undefined> {
  const run = new LeasedObject(client, RUNS, key)
  const ask = (owner: string, lease: number) => client.scripts.run(BEGIN, [run.key], [owner, lease], true)
  const granted = await acquire(run, { waitTime, signal }, ask, ({ stored }) => !stored)
  return granted && { ...granted, run }
}

/** Stores the result of a run; resolves with false where its owner has lost the key. */
export async function finish(
  run: LeasedObject,
  owner: string,
  stored: Stored,
  keep: number,
): Promise<boolean> {
  const { client, key, messages } = run
  const args = [owner, stored.value, stored.fingerprint, keep, ...messages]
  const send = () => client.scripts.run(FINISH, [key], args, true).answer
  const { value, acknowledged } = await send()
  if (!acknowledged) client.orphans.untilReplicated(send, STORED_FOR)
  run.client.queues.changed(run.target, value)
  return value > 0
}
