import type { SimulatedServer } from '../../packages/testing/src/simulation/server'
import type { Sent } from '../../packages/testing/src/simulation/socket'
import type { World } from '../../packages/testing/src/simulation/world'
import type { KeyChanged, SimulatedObject } from './judge/history'
import type { Recorder } from './recorder'

/** Writes into the history what the keys of the objects hold, each time that it differs from before. */
export class KeyWatch {
  /** The only server that has anything of a name, where there is one. */
  private readonly homes = new Map<string, string>()
  private readonly last = new Map<string, string>()
  private readonly checks = new Map<string, number>()
  /** The latest end of its lease that a waiter can have read. */
  private readonly ttlSaid = new Map<string, number>()
  /** When its lease ends. A command may be the first to find that it has ended. */
  private readonly ends = new Map<string, number>()

  constructor(
    private readonly world: World,
    private readonly recorder: Recorder,
    servers: readonly SimulatedServer[],
    objects: readonly SimulatedObject[],
  ) {
    const names = [...new Set(objects.flatMap(namesOf))].map((name) => ({ name, inBraces: `{${name}}` }))
    for (const { name, server, members } of objects)
      if (server !== undefined && !members) this.homes.set(name, server)
    for (const server of servers)
      server.onExecuted = (sent, answer) => {
        for (const { name, inBraces } of names)
          if (sent === undefined || (concerns(sent, name, inBraces) && this.mayDiffer(server, name)))
            this.look(server, name, sent?.words)
        if (sent && isRefused(sent, answer)) this.findRefused(server, sent)
      }
    this.isSingle = servers.length === 1
  }

  private readonly isSingle: boolean

  /** A command that writes nothing shows at most that the lease of a key is over. */
  private mayDiffer(server: SimulatedServer, name: string): boolean {
    if (server.hasWritten) return true
    const id = `${server.name} ${name}`
    return !this.last.has(id) || this.world.time >= (this.ends.get(id) ?? Number.POSITIVE_INFINITY)
  }

  private findRefused(server: SimulatedServer, { words }: Sent) {
    const [, name = ''] = words
    for (const owner of stateOf(server, name).owners)
      if (words.includes(owner)) this.recorder.note({ type: 'own-refused', at: this.world.time, name, owner })
  }

  private look(server: SimulatedServer, name: string, by?: readonly string[]) {
    const home = this.homes.get(name)
    if (home !== undefined && home !== server.name) return
    const { keyspace } = server.engine
    keyspace.time = server.time
    const { owners, value } = stateOf(server, name)
    const queue =
      keyspace.typeOf(`redisson_lock_queue:{${name}}`) === 'list'
        ? keyspace.read(`redisson_lock_queue:{${name}}`, 'list')
        : undefined
    const id = `${server.name} ${name}`
    const text = `${value} ${owners.join()} ${queue?.join()}`
    const isFree = keyspace.typeOf(name) === 'none'
    const hasExpired = isFree && this.world.time >= (this.ends.get(id) ?? Number.POSITIVE_INFINITY)
    // A release tells the waiters. What runs out tells none, whatever it has read of this owner or of an earlier one.
    if (isFree && this.ends.has(id) && !hasExpired) this.ttlSaid.delete(id)
    if (this.last.get(id) !== text) {
      this.last.set(id, text)
      const fact: KeyChanged = {
        ...{ type: 'key', at: this.world.time, name, owners },
        ...(by === undefined ? {} : { by }),
        ...(this.isSingle ? {} : { server: server.name }),
        ...(value === undefined ? {} : { value }),
        ...(queue && queue.length > 0 ? { queue: [...queue] } : {}),
        ...(hasExpired ? { expired: true, ttlSaid: this.ttlSaid.get(id) ?? this.world.time } : {}),
      }
      this.recorder.note(fact)
    }
    const ttl = keyspace.timeToLive(name)
    this.ends.delete(id)
    if (ttl < 0) return
    // The server counts whole ms, and its clock is whole ms ahead: a key is gone after the last one.
    const end = Math.floor(this.world.time) + ttl + 1
    this.ends.set(id, end)
    this.ttlSaid.set(id, Math.max(this.ttlSaid.get(id) ?? 0, end))
    this.lookAt(server, name, end)
  }

  /** No command shows when a key expires. */
  private lookAt(server: SimulatedServer, name: string, at: number) {
    const id = `${server.name} ${name}`
    const planned = this.checks.get(id)
    if (planned !== undefined && planned <= at) return
    this.checks.set(id, at)
    this.world.at(at, undefined, () => {
      if (this.checks.get(id) === at) this.checks.delete(id)
      this.look(server, name)
    })
  }
}

/** The keys of an object are its name, and others with its name in braces. */
function concerns({ words }: Sent, name: string, inBraces: string): boolean {
  for (const word of words) if (word === name || word.includes(inBraces)) return true
  return false
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

/** Who holds the key, and the value of a counter. */
function stateOf({ engine: { keyspace } }: SimulatedServer, name: string): State {
  switch (keyspace.typeOf(name)) {
    case 'hash': {
      const owners = [...keyspace.read(name, 'hash')!.keys()].filter((field) => field !== 'mode')
      return { owners, value: undefined }
    }
    case 'string': {
      const { text } = keyspace.read(name, 'string')!
      if (!/^-?\d{1,9}$/.test(text)) return { owners: [text], value: undefined }
      return { owners: permitsOut(keyspace, `{${name}}:timeout`), value: Number(text) }
    }
    default:
      return { owners: [], value: undefined }
  }
}

/** The ids of permits in use, as hex. */
function permitsOut(keyspace: SimulatedServer['engine']['keyspace'], key: string): readonly string[] {
  if (keyspace.typeOf(key) !== 'zset') return []
  return [...keyspace.read(key, 'zset')!.keys()].map((id) => Buffer.from(id, 'latin1').toString('hex'))
}
