import type { SimulatedServer } from '../../packages/testing/src/simulation/server'
import type { World } from '../../packages/testing/src/simulation/world'
import type { KeyChanged, SimulatedObject } from './judge/history'
import type { Recorder } from './recorder'

/** Writes into the history what the keys of the objects hold, each time that it differs from before. */
export class KeyWatch {
  private readonly last = new Map<string, string>()
  private readonly checks = new Map<string, number>()
  /** The latest end of its lease that a waiter can have read. */
  private readonly ttlSaid = new Map<string, number>()

  constructor(
    private readonly world: World,
    private readonly recorder: Recorder,
    servers: readonly SimulatedServer[],
    objects: readonly SimulatedObject[],
  ) {
    const names = [...new Set(objects.flatMap(namesOf))]
    for (const server of servers)
      server.onExecuted = (sent) => {
        for (const name of names)
          if (sent === undefined || sent.text.includes(name)) this.look(server, name, false)
      }
    this.isSingle = servers.length === 1
  }

  private readonly isSingle: boolean

  private look(server: SimulatedServer, name: string, mayBeExpired: boolean) {
    const { keyspace } = server.engine
    keyspace.time = server.time
    const owners = ownersOf(server, name)
    const value = typeof owners === 'number' ? owners : undefined
    const queue =
      keyspace.typeOf(`redisson_lock_queue:{${name}}`) === 'list'
        ? keyspace.read(`redisson_lock_queue:{${name}}`, 'list')
        : undefined
    const id = `${server.name} ${name}`
    const text = `${JSON.stringify(owners)} ${queue?.join()}`
    if (this.last.get(id) !== text) {
      this.last.set(id, text)
      const fact: KeyChanged = {
        ...{ type: 'key', at: this.world.time, name, owners: typeof owners === 'number' ? [] : owners },
        ...(this.isSingle ? {} : { server: server.name }),
        ...(value === undefined ? {} : { value }),
        ...(queue && queue.length > 0 ? { queue: [...queue] } : {}),
        ...(mayBeExpired && keyspace.typeOf(name) === 'none'
          ? { expired: true, ttlSaid: this.ttlSaid.get(id) ?? this.world.time }
          : {}),
      }
      this.recorder.note(fact)
    }
    const ttl = keyspace.timeToLive(name)
    if (ttl === -2) this.ttlSaid.delete(id)
    if (ttl < 0) return
    this.ttlSaid.set(id, Math.max(this.ttlSaid.get(id) ?? 0, this.world.time + ttl))
    this.lookAfter(server, name, ttl + 1)
  }

  /** No command shows when a key expires. */
  private lookAfter(server: SimulatedServer, name: string, ms: number) {
    const id = `${server.name} ${name}`
    const at = this.world.time + ms
    const planned = this.checks.get(id)
    if (planned !== undefined && planned <= at) return
    this.checks.set(id, at)
    this.world.in(ms, undefined, () => {
      if (this.checks.get(id) === at) this.checks.delete(id)
      this.look(server, name, true)
    })
  }
}

function namesOf(object: SimulatedObject): readonly string[] {
  return object.members ? object.members.flatMap(namesOf) : [object.name]
}

/** Who holds the key, or the value of a counter. */
function ownersOf({ engine: { keyspace } }: SimulatedServer, name: string): readonly string[] | number {
  switch (keyspace.typeOf(name)) {
    case 'hash':
      return [...keyspace.read(name, 'hash')!.keys()].filter((field) => field !== 'mode')
    case 'string': {
      const { text } = keyspace.read(name, 'string')!
      return /^-?\d{1,9}$/.test(text) ? Number(text) : [text]
    }
    case 'zset':
      return [...keyspace.read(name, 'zset')!.keys()]
    default:
      return []
  }
}
