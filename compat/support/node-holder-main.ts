import { Redisson } from '../../src/index'
import type { HolderOrder } from './node-holder'

// Run by node-holder.ts as a process of its own.
const { options, lock } = JSON.parse(process.env.HOLDER_ORDER!) as HolderOrder

void (async () => {
  const redisson = await Redisson.create(options)
  redisson.on('lockLost', ({ reason }) => process.send!({ lost: reason }))
  await redisson.getLock(lock).acquire()
  process.send!({ clientId: redisson.getId() })
  // Whoever started us has gone: holding on would keep a lock for nobody.
  process.once('disconnect', () => process.exit(1))
})()
