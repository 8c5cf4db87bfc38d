// Takes a permit that renews itself and keeps it until the process is killed.
// Arguments: the server's port, the semaphore's name, the watchdog timeout in ms.
import { Redisson } from '../../../src/index'

async function main() {
  const [port, name, lockWatchdogTimeout] = process.argv.slice(2)
  const redisson = await Redisson.create({
    redis: `redis://127.0.0.1:${port}`,
    lockWatchdogTimeout: Number(lockWatchdogTimeout),
  })
  const { id } = await redisson.getPermitExpirableSemaphore(name!).acquirePermit()
  console.log(id)
  process.stdin.resume()
}

void main()
