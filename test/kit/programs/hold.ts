// Takes a lock and keeps it until it is killed, or gets the order to shut down.
// Arguments: the server's port, the lock's name, the watchdog timeout in ms.
import { createInterface } from 'node:readline'
import { Redisson } from '../../../src/index'

async function main() {
  const [port, name, lockWatchdogTimeout] = process.argv.slice(2)
  const redisson = await Redisson.create({
    redis: `redis://127.0.0.1:${port}`,
    lockWatchdogTimeout: Number(lockWatchdogTimeout),
  })
  const lock = redisson.getLock(name!)
  await lock.lock()
  console.log('held')
  const input = createInterface({ input: process.stdin })
  input.once('line', async () => {
    await redisson.shutdown({ timeout: 0 })
    console.log('shut down')
    // Nothing of ours may keep the process now; the input is not ours.
    process.stdin.destroy()
  })
}

void main()
