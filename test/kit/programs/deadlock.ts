import { Redisson } from '../../../src/index'

// Takes one lock and then, at a word on its input, another one within it.
const [url = '', first = '', second = '', label = ''] = process.argv.slice(2)

async function main() {
  const redisson = await Redisson.create({ redis: url, label })
  await redisson.getLock(first).withLock(async () => {
    console.log('held')
    await new Promise((resolve) => process.stdin.once('data', resolve))
    await redisson.getLock(second).withLock(() => {})
  })
  await redisson.shutdown()
}

void main()
