// Queues for a fair lock until it is killed.
// Arguments: the server's URL, the lock's name.
import { Redisson } from '../../../src/index'

async function main() {
  const [url, name] = process.argv.slice(2)
  const redisson = await Redisson.create({ redis: url! })
  await redisson.getFairLock(name!).lock()
}

void main()
