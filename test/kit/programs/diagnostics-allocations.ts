/**
 * Takes locks and permits again and again, and prints how many bytes a cycle V8 saw allocated by the code that publishes diagnostics, in
 * the round that had the fewest.
 * Arguments: URL, name, `subscribed` or nothing.
 */
import { channel } from 'node:diagnostics_channel'
import { Session } from 'node:inspector/promises'

const [redis = '', name = '', subscribed] = process.argv.slice(2)
const CYCLES = 120
const ROUNDS = 3
const CHANNELS = ['tracing:rlock:acquire:asyncEnd', 'tracing:rlock:hold:asyncEnd']
/** The files that publish, and the module of Node below them. */
const PUBLISHING = /api\/diagnostics\.ts$|diagnostics_channel$/

interface Node {
  readonly callFrame: { readonly url: string }
  readonly selfSize: number
  readonly children: readonly Node[]
}

function bytesOf(node: Node, isCounted: (url: string) => boolean): number {
  const own = isCounted(node.callFrame.url) ? node.selfSize : 0
  return node.children.reduce((sum, child) => sum + bytesOf(child, isCounted), own)
}

async function measured(cycle: () => Promise<void>) {
  const session = new Session()
  session.connect()
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: 128,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  })
  for (let each = 0; each < CYCLES; each++) await cycle()
  const { profile } = await session.post('HeapProfiler.stopSampling')
  session.disconnect()
  const bytes = (isCounted: (url: string) => boolean) => bytesOf(profile.head, isCounted) / CYCLES
  return { publishing: bytes((url) => PUBLISHING.test(url)), all: bytes(() => true) }
}

async function main() {
  // In development each acquisition notes its place in the code.
  process.env.NODE_ENV = 'production'
  const { Redisson } = await import('../../../src/index.js')
  if (subscribed) for (const each of CHANNELS) channel(each).subscribe(() => {})
  const redisson = await Redisson.create({ redis })
  const lock = redisson.getLock(name)
  const semaphore = redisson.getPermitExpirableSemaphore(`${name}:permits`)
  await semaphore.trySetPermits(1)
  const cycle = async () => {
    await (await lock.acquire()).unlock()
    await (await semaphore.acquirePermit()).release()
  }
  // The first calls compile code and fill caches.
  for (let each = 0; each < 50; each++) await cycle()
  const rounds: { publishing: number; all: number }[] = []
  for (let round = 0; round < ROUNDS; round++) rounds.push(await measured(cycle))
  await redisson.shutdown()
  // V8 allocates for a function once more when it has been called often enough: that is in one of the rounds.
  console.log(JSON.stringify(rounds.toSorted((one, other) => one.publishing - other.publishing)[0]))
}
void main()
