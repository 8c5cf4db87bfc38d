// Locks many names once each and prints how many bytes of heap that left behind.
// Arguments: the server's port, a prefix for the names, how many.
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
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

  const use = async (names: string[]) => {
    await Promise.all(
      names.map((name) =>
        redisson.run(async () => {
          const lock = redisson.getLock(name)
          await lock.lock()
          const waiting = redisson.getLock(name).withLock(() => {})
          await lock.unlock()
          await waiting
        }),
      ),
    )
  }

  const namesFrom = (start: number, label: string) =>
    Array.from({ length: AT_ONCE }, (_, index) => `${prefix}:${label}:${start + index}`)

  for (let start = 0; start < 5 * AT_ONCE; start += AT_ONCE) await use(namesFrom(start, 'warm'))
  const before = await heap()
  for (let start = 0; start < Number(count); start += AT_ONCE) await use(namesFrom(start, 'name'))
  console.log(String((await heap()) - before))
  await redisson.shutdown()
}

void main()
