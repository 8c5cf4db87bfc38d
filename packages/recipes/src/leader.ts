import {
  type Attempt,
  blocked,
  type Client,
  keyOf,
  type Moment,
  type Outcome,
  prefixed,
  quote,
  randomHex,
  type ScriptCall,
  shared,
  untilRecheck,
  type WaitTarget,
} from 'rlock/internal'
import { script } from './script'

/** Who leads. */
export interface Leader {
  /** The label that it was given, `<host>:<pid>` by default. Its owner field, where it is in Java, or has not noted a label yet. */
  readonly label: string
  /** Its fencing token, which is greater than that of each leader before. */
  readonly term: number
  /** Since when it leads, by the server's clock; undefined where it has noted nothing. */
  readonly since: Date | undefined
}

/** A leader of this package that has noted nothing for this long, in ms, is shown as one in Java is. */
const NOTED_WITHIN = 1_000

interface Look {
  readonly leader: Leader | undefined
  /** How long its lease lasts, in ms; below 0: without end. */
  readonly ttl: number
}

/** See lua/election/leader.lua. */
function decodeLook(raw: unknown): Look {
  const [owner, ttl, term, label = owner, since] = raw as [string?, number?, string?, string?, string?]
  if (owner === undefined) return { leader: undefined, ttl: -1 }
  const began = since === undefined ? undefined : new Date(Number(since))
  return { leader: { label: label!, term: Number(term), since: began }, ttl: ttl! }
}

const LOOK = script('election/leader', decodeLook)
const ANNOUNCE = script('election/announce', Number)

/** What the candidates of one name know of each other: the lock itself is their RFencedLock. */
export class LeaderNotes {
  private readonly keys: readonly [lock: string, leader: string, token: string]
  private readonly channel: string

  constructor(
    private readonly client: Client,
    readonly name: string,
  ) {
    const key = keyOf(client, name)
    this.keys = [key, prefixed('rlock_leader', key), prefixed('redisson_lock_token', key)]
    this.channel = prefixed('rlock_election', key)
  }

  /** Notes a new leader in the background. Without the note it leads all the same, and is shown as one in Java is. */
  announce(owner: string, label: string, term: number): void {
    const [lock, leader] = this.keys
    const args = [owner, label, term, this.channel, this.client.publishCommand]
    this.client.scripts.run(ANNOUNCE, [lock, leader], args).answer.catch(() => {})
  }

  async leader(): Promise<Leader | undefined> {
    this.client.assertNotClosed()
    return (await this.client.scripts.run(LOOK, this.keys, []).answer).value.leader
  }

  /**
   * Waits for a leader with another term than this one; undefined: none came in `waitTime` ms. A leader that notes itself is seen
   * at once, and one in Java with the next message, or when the lease ends that was seen last.
   */
  async next(
    term: number | undefined,
    signal: AbortSignal,
    waitTime = Infinity,
  ): Promise<Leader | undefined> {
    const { client, keys } = this
    const { clock } = client
    let unnoted: { readonly label: string; readonly since: Moment } | undefined
    const decode = (raw: unknown): Outcome<Leader> => {
      const { leader, ttl } = decodeLook(raw)
      if (!leader || leader.term === term) return blocked(ttl < 0 ? untilRecheck() : ttl)
      const { label, since } = leader
      if (since || !isOfThisLibrary(label)) return { granted: true, grant: leader }
      // It has just acquired the lock, and its message is on the way.
      if (unnoted?.label !== label) unnoted = { label, since: clock.now() }
      if (clock.elapsedSince(unnoted.since) < NOTED_WITHIN) return blocked(NOTED_WITHIN)
      return { granted: true, grant: leader }
    }
    const attempt: Attempt<Leader> = {
      waitTime,
      signal,
      send: (): ScriptCall<Outcome<Leader>> => client.scripts.run({ ...LOOK, decode }, keys, []),
    }
    return (await client.acquire(this.newTarget(), attempt))?.value.grant
  }

  /** Each observer has a queue of its own, because each has seen another leader last. */
  private newTarget(): WaitTarget {
    const { name, channel, keys } = this
    const [key] = keys
    const objectId = `leader ${randomHex(8)} ${key}`
    return {
      ...{ kind: 'leader', name, key, objectId, relatedIds: [objectId], channel },
      ...{ subject: `the leader ${quote(name)}`, takesTurns: false, admission: shared },
    }
  }
}

/** The client ids of this library are UUIDs of version 8, those of Java of version 4. */
function isOfThisLibrary(owner: string): boolean {
  return owner[14] === '8'
}
