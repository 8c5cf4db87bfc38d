import type { SimulatedServer } from '../../packages/testing/src/simulation/server'
import type { Sent } from '../../packages/testing/src/simulation/socket'
import type { World } from '../../packages/testing/src/simulation/world'
import type { SimulatedObject } from './judge/history'
import type { Recorder } from './recorder'

/** Writes into the history what the keys of the objects hold, each time that it differs from before. */
export class KeyWatch {
  constructor(
    private readonly world: World,
    private readonly recorder: Recorder,
    servers: readonly SimulatedServer[],
    objects: readonly SimulatedObject[],
  ) {
    const names = new Set(objects.flatMap(namesOf))
    // The only server that has anything of a name, where there is one.
    const homes = new Map<string, string>()
    for (const { name, server, members } of objects)
      if (server !== undefined && !members) homes.set(name, server)
    for (const server of servers) {
      const watched = [...names].filter((name) => (homes.get(name) ?? server.name) === server.name)
      const keys = watched.map((name) => new WatchedKey(server, name))
      server.onExecuted = (sent, answer) => {
        for (const key of keys)
          if (sent === undefined || (key.concerns(sent) && this.mayDiffer(key))) this.look(key, sent?.words)
        if (sent && isRefused(sent, answer)) this.findRefused(server, sent)
      }
    }
    this.isSingle = servers.length === 1
  }

  private readonly isSingle: boolean

  /** A command that writes nothing shows at most that the lease of a key is over. */
  private mayDiffer({ server, last, end }: WatchedKey): boolean {
    return server.hasWritten || last === undefined || this.world.time >= end
  }

  private findRefused(server: SimulatedServer, { words }: Sent) {
    const [, name = ''] = words
    for (const owner of new WatchedKey(server, name).state().owners)
      if (words.includes(owner)) this.recorder.note({ type: 'own-refused', at: this.world.time, name, owner })
  }

  private look(key: WatchedKey, by?: readonly string[]) {
    const { server, name } = key
    const { keyspace } = server.engine
    const { time } = this.world
    keyspace.time = server.time
    const { owners, value } = key.state()
    const queue = keyspace.typeOf(key.queue) === 'list' ? keyspace.read(key.queue, 'list') : undefined
    const text = `${value} ${owners.join()} ${queue?.join()}`
    const isFree = keyspace.typeOf(name) === 'none'
    const hasExpired = isFree && time >= key.end
    // A release tells the waiters. What runs out tells none, whatever it has read of this owner or of an earlier one.
    if (isFree && key.end < NEVER && !hasExpired) key.ttlSaid = undefined
    if (key.last !== text) {
      key.last = text
      this.recorder.note({
        type: 'key',
        at: time,
        name,
        owners,
        by,
        value,
        server: this.isSingle ? undefined : server.name,
        queue: queue && queue.length > 0 ? [...queue] : undefined,
        expired: hasExpired ? true : undefined,
        ttlSaid: hasExpired ? (key.ttlSaid ?? time) : undefined,
      })
    }
    const ttl = keyspace.timeToLive(name)
    key.end = NEVER
    if (ttl < 0) return
    // The server counts whole ms, and its clock is whole ms ahead: a key is gone after the last one.
    key.end = Math.floor(time) + ttl + 1
    key.ttlSaid = Math.max(key.ttlSaid ?? 0, key.end)
    this.lookAt(key, key.end)
  }

  /** No command shows when a key expires. */
  private lookAt(key: WatchedKey, at: number) {
    if (key.check <= at) return
    key.check = at
    this.world.at(at, undefined, () => {
      if (key.check === at) key.check = NEVER
      this.look(key)
    })
  }
}

const NEVER = Number.POSITIVE_INFINITY

/** A name on one server, and what was seen of it last. */
class WatchedKey {
  readonly queue: string
  private readonly inBraces: string
  private readonly permits: string
  private readonly grants: string
  last: string | undefined
  /** When it is looked at again. */
  check = NEVER
  /** The latest end of its lease that a waiter can have read. */
  ttlSaid: number | undefined
  /** When its lease ends. A command may be the first to find that it has ended. */
  end = NEVER

  constructor(
    readonly server: SimulatedServer,
    readonly name: string,
  ) {
    this.inBraces = `{${name}}`
    this.queue = `redisson_lock_queue:{${name}}`
    this.permits = `{${name}}:timeout`
    this.grants = `{${name}}:permits`
  }

  /** The keys of an object are its name, and others with its name in braces. */
  concerns({ words }: Sent): boolean {
    for (const word of words) if (word === this.name || word.includes(this.inBraces)) return true
    return false
  }

  /** Who holds the key, and the value of a counter. */
  state(): State {
    const { keyspace } = this.server.engine
    const { name } = this
    switch (keyspace.typeOf(name)) {
      case 'hash': {
        const limit = keyspace.read(name, 'hash')!
        if (limit.has('interval')) return { owners: grantsOf(keyspace, this.grants, limit), value: undefined }
        const owners: string[] = []
        for (const field of keyspace.read(name, 'hash')!.keys()) if (field !== 'mode') owners.push(field)
        return { owners, value: undefined }
      }
      case 'string': {
        const { text } = keyspace.read(name, 'string')!
        if (!/^-?\d{1,9}$/.test(text)) return { owners: [text], value: undefined }
        return { owners: permitsOut(keyspace, this.permits), value: Number(text) }
      }
      default:
        return { owners: [], value: undefined }
    }
  }
}

/** Whether a lock answered for how long it is taken. */
function isRefused({ words: [script] }: Sent, answer: unknown): boolean {
  if (script === 'fair-lock/acquire') return Array.isArray(answer)
  return typeof answer === 'number' && script !== undefined && LOCK_ACQUIRED.test(script)
}

const LOCK_ACQUIRED = /-?lock\/acquire$/

function namesOf(object: SimulatedObject): readonly string[] {
  return object.members ? object.members.flatMap(namesOf) : [object.name]
}

interface State {
  readonly owners: readonly string[]
  readonly value: number | undefined
}

/** The ids of permits in use, as hex. */
function permitsOut(keyspace: SimulatedServer['engine']['keyspace'], key: string): readonly string[] {
  if (keyspace.typeOf(key) !== 'zset') return []
  return [...keyspace.read(key, 'zset')!.keys()].map((id) => Buffer.from(id, 'latin1').toString('hex'))
}

/** The grants of a rate limiter, each with all that the judge needs: id, permits, time, rate and interval. */
function grantsOf(
  keyspace: SimulatedServer['engine']['keyspace'],
  key: string,
  limit: ReadonlyMap<string, string>,
): readonly string[] {
  if (keyspace.typeOf(key) !== 'zset') return []
  return [...keyspace.read(key, 'zset')!].map(([member, score]) => {
    const permits = Buffer.from(member.slice(-4), 'latin1').readUInt32LE()
    return [member.slice(1, -4), permits, score, limit.get('rate'), limit.get('interval')].join(' ')
  })
}
