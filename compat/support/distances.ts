import { setTimeout as sleep } from 'node:timers/promises'
import { Redisson } from '../../src/index'
import { uniqueName } from '../../test/kit/clients'
import { type JavaPeer, startJavaPeer } from '../../test/kit/java/index'
import { type Standalone, startProxy, startStandalone, type TcpProxy } from '../../test/kit/servers/index'
import type { Side } from './lock-peer'

/** A process of either language, which reaches the server by a way of its own. */
export interface Party {
  readonly side: Side
  readonly way: TcpProxy
  /** Its callers or threads ask again as soon as they are out. Resolves with the number of their sections. */
  contend(name: string, order: Order): Promise<number>
}

export interface Order {
  readonly type: 'lock' | 'write'
  readonly durationMs: number
  readonly sectionMs: number
  readonly callers: number
}

/** Readers that come and go beside the parties of a meeting. */
export interface Readers {
  readonly callers: number
  readonly sectionMs: number
  /** The longest pause of a caller between two sections. */
  readonly pauseMs: number
}

export interface Meeting extends Order {
  /** How many ms each message of a party takes, beyond the proxy; in the order of the parties. */
  readonly distances: readonly number[]
  readonly readers?: Readers
}

/** Processes that reach one server at distances that are set for each meeting. */
export class Distances {
  private reader: Redisson | undefined

  private constructor(
    private readonly server: Standalone,
    private readonly closing: (() => Promise<unknown>)[],
  ) {}

  static async open(): Promise<Distances> {
    return new Distances(await startStandalone(), [])
  }

  /** How many sections each party gets. */
  async meet(parties: readonly Party[], { distances, readers, ...order }: Meeting): Promise<number[]> {
    const name = uniqueName('distances')
    for (const [index, { way }] of parties.entries()) way.delay(distances[index]!)
    const reading = readers ? this.read(name, readers, order.durationMs) : undefined
    const sections = await Promise.all(parties.map((party) => party.contend(name, order)))
    await reading
    return sections
  }

  async party(side: Side): Promise<Party> {
    const way = await startProxy(this.server)
    this.closing.push(() => way.stop())
    const contend = side === 'Java' ? await this.java(way.url) : await this.node(way.url)
    return { side, way, contend }
  }

  async close(): Promise<void> {
    // Clients before their proxies.
    for (const close of this.closing.reverse()) await close()
    await this.server.stop()
  }

  private async java(url: string): Promise<Party['contend']> {
    const peer = await startJavaPeer({ redis: url })
    this.closing.push(() => peer.kill())
    const contend: Party['contend'] = async (name, { callers: threads, sectionMs: holdMs, ...rest }) =>
      sectionsOf(await peer.contend(name, { ...rest, threads, holdMs }))
    // The first turns of a JVM measure its compiler.
    for (const type of ['lock', 'write'] as const)
      await contend(uniqueName('warm-up'), { type, callers: 4, durationMs: 500, sectionMs: 0 })
    return contend
  }

  private async read(name: string, { callers, sectionMs, pauseMs }: Readers, durationMs: number) {
    this.reader ??= await this.client(this.server.url)
    const lock = this.reader.getReadWriteLock(name).readLock()
    const end = performance.now() + durationMs
    const caller = async () => {
      while (performance.now() < end) {
        await lock.withLock(() => sleep(sectionMs))
        await sleep(Math.random() * pauseMs)
      }
    }
    await Promise.all(Array.from({ length: callers }, caller))
  }

  private async client(redis: string): Promise<Redisson> {
    const redisson = await Redisson.create({ redis })
    this.closing.push(() => redisson.shutdown())
    return redisson
  }

  private async node(url: string): Promise<Party['contend']> {
    const redisson = await this.client(url)
    return (name, order) => sectionsIn(redisson, name, order)
  }
}

/** What the party with the fewest sections has of what each would have if all had the same. */
export function leastShare(sections: readonly number[]): number {
  return (Math.min(...sections) * sections.length) / sections.reduce((sum, each) => sum + each, 0)
}

function sectionsOf({ sections, errors }: Awaited<ReturnType<JavaPeer['contend']>>): number {
  if (errors.length > 0) throw new Error(errors.join(', '))
  return sections
}

async function sectionsIn(redisson: Redisson, name: string, order: Order): Promise<number> {
  const { type, callers, sectionMs, durationMs } = order
  const lock = type === 'lock' ? redisson.getLock(name) : redisson.getReadWriteLock(name).writeLock()
  const end = performance.now() + durationMs
  let sections = 0
  const caller = async () => {
    while (performance.now() < end) {
      const hold = await lock.acquire()
      await sleep(sectionMs)
      sections++
      await hold.unlock()
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return sections
}
