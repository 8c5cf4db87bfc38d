/** Every channel has a subscriber that throws. Prints what the locks did meanwhile. Arguments: URL, name, `handles` or nothing. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { channel, tracingChannel } from 'node:diagnostics_channel'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redisson } from '../../../src/index'

const [redis = '', name = '', handles] = process.argv.slice(2)
const thrown = new Set<string>()
if (handles) process.on('uncaughtException', ({ message }) => thrown.add(message))

const PARTS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error']
const CHANNELS = [
  'rlock:renew',
  ...PARTS.map((part) => `tracing:rlock:acquire:${part}`),
  ...PARTS.map((part) => `tracing:rlock:hold:${part}`),
]
for (const each of CHANNELS)
  channel(each).subscribe(() => {
    throw new Error(each)
  })
tracingChannel('rlock:acquire').start.bindStore(new AsyncLocalStorage(), () => {
  throw new Error('bindStore')
})

async function main() {
  const redisson = await Redisson.create({ redis, lockWatchdogTimeout: 600 })
  const lock = redisson.getLock(name)
  const results: unknown[] = []
  results.push(
    await lock.withLock(async ({ signal }) => {
      await sleep(700)
      return signal.aborted
    }),
  )
  const hold = await lock.acquire()
  results.push(await lock.tryAcquire({ waitTime: 50 }))
  await hold.unlock()
  const lost = await lock.acquire()
  await lock.forceUnlock()
  results.push(lost.signal.aborted, await lock.isLocked(), redisson.stats().waiting, redisson.stats().held)
  await redisson.shutdown()
  console.log(JSON.stringify({ results: results.map((each) => each ?? null), thrown: [...thrown].sort() }))
}
void main()
