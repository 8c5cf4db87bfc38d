// Measures what docs/evidence/fairness.md says, here and in Java: npx tsx compat/fairness.ts
//
// 1. How long a writer waits under a steady stream of readers: four that overlap in turn, 20 ms each.
// 2. How long waiting readers wait on after the writer has stepped down to reading.
import { setTimeout as sleep } from 'node:timers/promises'
import { Redisson } from '../src/index'
import { type JavaPeer, REDISSON_VERSIONS, startJavaPeer } from '../test/kit/java'
import { startStandalone } from '../test/kit/servers/index'

const READERS = 4
const HOLD_MS = 20
const WRITER_TRIES = 10
const CAP_MS = 10_000
const STEP_DOWN_TRIES = 5
/** Short, so that those who sleep a lease need not be waited for long. */
const LEASE_MS = 5_000

/** Either language, as far as this needs it. Callers are named; each may hold both sides. */
interface Party {
  readonly language: string
  tryLock(caller: string, lock: string, type: 'read' | 'write', waitTime: number): Promise<boolean>
  unlock(caller: string, lock: string, type: 'read' | 'write'): Promise<unknown>
  close(): Promise<void>
}

class Node implements Party {
  readonly language = 'Node'
  private readonly ids = new Map<string, number>()

  private constructor(private readonly redisson: Redisson) {}

  static async open(url: string): Promise<Node> {
    return new Node(await Redisson.create({ redis: url, lockWatchdogTimeout: LEASE_MS }))
  }

  tryLock(caller: string, lock: string, type: 'read' | 'write', waitTime: number) {
    return this.side(lock, type).tryLock({ threadId: this.id(caller), waitTime })
  }

  unlock(caller: string, lock: string, type: 'read' | 'write') {
    return this.side(lock, type).unlock({ threadId: this.id(caller) })
  }

  async close() {
    await this.redisson.shutdown()
  }

  private id(caller: string): number {
    if (!this.ids.has(caller)) this.ids.set(caller, this.ids.size + 1)
    return this.ids.get(caller)!
  }

  private side(lock: string, type: 'read' | 'write') {
    const rw = this.redisson.getReadWriteLock(lock)
    return type === 'read' ? rw.readLock() : rw.writeLock()
  }
}

class Java implements Party {
  readonly language = `Java ${REDISSON_VERSIONS.newest}`

  private constructor(private readonly peer: JavaPeer) {}

  static async open(url: string): Promise<Java> {
    return new Java(await startJavaPeer({ redis: url, settings: { lockWatchdogTimeout: LEASE_MS } }))
  }

  tryLock(caller: string, lock: string, type: 'read' | 'write', waitTime: number) {
    return this.peer.thread(caller).tryLock(lock, { type, waitTime })
  }

  unlock(caller: string, lock: string, type: 'read' | 'write') {
    return this.peer.thread(caller).unlock(lock, { type })
  }

  close() {
    return this.peer.shutdown()
  }
}

interface Waits {
  readonly waits: number[]
  readonly capped: number
}

async function writerAmongReaders(readers: Party, writer: Party): Promise<Waits> {
  const waits: number[] = []
  let capped = 0
  // After a writer's turn the readers enter together, and would leave together: each try meets a stream of
  // its own. Three that had to be given up say as much as more of them.
  for (let i = 0; i < WRITER_TRIES && capped < 3; i++) {
    const lock = `fairness:${Math.random()}`
    let open = true
    const streams = Array.from({ length: READERS }, async (_, i) => {
      await sleep((i * HOLD_MS) / READERS)
      while (open) {
        await readers.tryLock(`reader-${i}`, lock, 'read', 60_000)
        await sleep(HOLD_MS)
        await readers.unlock(`reader-${i}`, lock, 'read')
      }
    })
    await sleep(100)
    const started = performance.now()
    const entered = await writer.tryLock('writer', lock, 'write', CAP_MS)
    waits.push(entered ? performance.now() - started : CAP_MS)
    if (entered) await writer.unlock('writer', lock, 'write')
    else capped++
    open = false
    await Promise.all(streams)
  }
  return { waits, capped }
}

async function stepDown(writer: Party, readers: Party): Promise<Waits> {
  const waits: number[] = []
  for (let i = 0; i < STEP_DOWN_TRIES; i++) {
    const lock = `step-down:${Math.random()}`
    await writer.tryLock('writer', lock, 'write', 0)
    await writer.tryLock('writer', lock, 'read', 0)
    const entered = Array.from({ length: READERS }, (_, r) =>
      readers.tryLock(`reader-${r}`, lock, 'read', 60_000),
    )
    await sleep(500)
    const started = performance.now()
    await writer.unlock('writer', lock, 'write')
    await Promise.all(entered)
    waits.push(performance.now() - started)
    await writer.unlock('writer', lock, 'read')
    for (let r = 0; r < READERS; r++) await readers.unlock(`reader-${r}`, lock, 'read')
  }
  return { waits, capped: 0 }
}

function row(first: string, second: string, { waits, capped }: Waits): string {
  const sorted = [...waits].sort((a, b) => a - b)
  const ms = (value: number) => (value >= CAP_MS ? `> ${CAP_MS}` : value.toFixed(value < 10 ? 1 : 0))
  const p50 = sorted[Math.ceil(sorted.length / 2) - 1]!
  return `| ${first} | ${second} | ${ms(p50)} | ${ms(sorted.at(-1)!)} | ${waits.length} | ${capped} |`
}

async function main() {
  const server = await startStandalone()
  const parties = [
    await Node.open(server.url),
    await Node.open(server.url),
    await Java.open(server.url),
    await Java.open(server.url),
  ] as const
  const [node, otherNode, java, otherJava] = parties
  const pairs: [Party, Party][] = [
    [node, otherNode],
    [java, otherJava],
    [node, java],
    [java, node],
  ]
  try {
    // The first turn of a JVM measures its compiler.
    await stepDown(otherNode, java)
    await stepDown(node, otherJava)
    console.log(
      '| readers | writer | its wait, p50 ms | max ms | tries | given up |\n| --- | --- | --- | --- | --- | --- |',
    )
    for (const [first, second] of pairs)
      console.log(row(first.language, second.language, await writerAmongReaders(first, second)))
    console.log(
      '\n| steps down | waiting readers | their wait, p50 ms | max ms | tries | given up |\n| --- | --- | --- | --- | --- | --- |',
    )
    for (const [first, second] of pairs)
      console.log(row(first.language, second.language, await stepDown(first, second)))
  } finally {
    await Promise.all(parties.map((party) => party.close()))
    await server.stop()
  }
}

void main()
