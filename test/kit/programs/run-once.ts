// Runs a job of 20 ms once, 200 ms after the other instances where it is started late.
// Arguments: the server's URL, the name, how late it is in ms.
import { setTimeout as sleep } from 'node:timers/promises'
import { Redisson } from '../../../src/index'

async function main() {
  const [url, name, late] = process.argv.slice(2)
  const redisson = await Redisson.create({ redis: url! })
  console.log('ready')
  process.stdin.once('data', async () => {
    await sleep(Number(late))
    const ran = await redisson.runOnce(name!, () => sleep(20), { atLeast: 10_000 })
    await redisson.shutdown()
    console.log(ran ? 'ran' : 'skipped')
    process.stdin.destroy()
  })
}

void main()
