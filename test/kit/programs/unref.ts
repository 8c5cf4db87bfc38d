// Takes a lock, waits for another under it, and lets go of every socket: only timers could keep it alive.
// Arguments: the server's port, the lock's name.
import { Socket } from 'node:net'
import { Redisson } from '../../../src/index'

async function main() {
  const [port, name] = process.argv.slice(2)
  const redisson = await Redisson.create({
    redis: `redis://127.0.0.1:${port}`,
    lockWatchdogTimeout: 3_000,
  })
  const lock = redisson.getLock(name!)
  await lock.lock()
  void lock.tryLock(600_000)
  // The connections and subscriptions of the waiter are made by then.
  await new Promise((resolve) => setTimeout(resolve, 500))
  console.log('held')
  const { _getActiveHandles } = process as unknown as { _getActiveHandles(): unknown[] }
  for (const handle of _getActiveHandles.call(process)) if (handle instanceof Socket) handle.unref()
}

void main()
