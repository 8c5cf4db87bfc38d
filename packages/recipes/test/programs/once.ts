// Runs once with a key, and says when the run begins and when the call has returned. The run ends with the line "end".
// Arguments: the server's port, the key, the watchdog timeout in ms.
import { once as event } from 'node:events'
import { createInterface } from 'node:readline'
import { Redisson } from '../../../../src/index'
import { once } from '../../src/index'

async function main() {
  const [port, key, lockWatchdogTimeout] = process.argv.slice(2)
  const redisson = await Redisson.create({
    redis: `redis://127.0.0.1:${port}`,
    lockWatchdogTimeout: Number(lockWatchdogTimeout),
  })
  const input = createInterface({ input: process.stdin })
  const run = async () => {
    console.log('begun')
    await event(input, 'line')
    return `value of ${process.pid}`
  }
  const { first, value } = await once(redisson, key!, run, { keep: 60_000 })
  console.log(`${first} ${value}`)
}

void main()
