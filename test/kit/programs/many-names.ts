// Locks many names once each and prints how many bytes of heap that left behind.
// Arguments: the server's port, a prefix for the names, how many.
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Semaphore } from 'async-mutex'
import { Redisson } from '../../../src/index'

const AT_ONCE = 500

async function main() {
  const [port, prefix, count] = process.argv.slice(2)
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const redisson = await Redisson.create({ redis: `redis://127.0.0.1:${port}` })

  const heap = async () => {
    // Subscriptions linger for a moment after their last waiter.
    await sleep(1_600)
    collect()
    return process.memoryUsage().heapUsed
  }

  const use = (name: string, withWaiter: boolean) =>
    redisson.run(async () => {
      const lock = redisson.getLock(name)
      await lock.lock()
      // Some of them with a waiter, which has a queue and a subscription.
      const waiting = withWaiter && redisson.getLock(name).withLock(() => {})
      await lock.unlock()
      await waiting
    })

  const useMany = async (many: number, label: string) => {
    const limiter = new Semaphore(AT_ONCE)
    const names = Array.from({ length: many }, (_, index) => `${prefix}:${label}:${index}`)
    await Promise.all(names.map((name, index) => limiter.runExclusive(() => use(name, index % 5 === 0))))
  }

  await useMany(5 * AT_ONCE, 'warm')
  const before = await heap()
  await useMany(Number(count), 'name')
  console.log(String((await heap()) - before))
  await redisson.shutdown()
}

void main()
