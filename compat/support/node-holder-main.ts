import { Redisson } from '../../src/index'
import type { HolderOrder } from './node-holder'
import { NodeThread } from './node-peer'

// Run by node-holder.ts as a process of its own.
const { options, locks } = JSON.parse(process.env.HOLDER_ORDER!) as HolderOrder

void (async () => {
  const redisson = await Redisson.create(options)
  redisson.on('lockLost', ({ reason }) => process.send!({ lost: reason }))
  const thread = new NodeThread(redisson)
  for (const { name, type } of locks) await thread.lock(name, { type })
  process.send!({ clientId: redisson.getId() })
  // The process that started us has gone: holding on would keep a lock without a use.
  process.once('disconnect', () => process.exit(1))
})()
