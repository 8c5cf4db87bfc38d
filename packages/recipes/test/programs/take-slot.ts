// Takes a slot and keeps it until the process is killed.
// Arguments: the server's port, the name, how many numbers there are, the watchdog timeout in ms.
import { Redisson } from '../../../../src/index'
import { takeSlot } from '../../src/index'

async function main() {
  const [port, name, count, lockWatchdogTimeout] = process.argv.slice(2)
  const redisson = await Redisson.create({
    redis: `redis://127.0.0.1:${port}`,
    lockWatchdogTimeout: Number(lockWatchdogTimeout),
  })
  const { index } = await takeSlot(redisson, name!, Number(count))
  console.log(index)
  process.stdin.resume()
}

void main()
