import { expect } from 'chai'
import type { Redisson, RedissonOptions } from '../../src/index'
import { startCluster, startSentinel, withClient } from '../servers'
import { closeAll, createRedisson, uniqueName } from '../support/clients'
import { through } from './servers'

/** Locks of each kind and a re-entry, all as usual; resolves with the `error` events. */
async function locksAsUsual(redis: RedissonOptions['redis']): Promise<string[]> {
  const redisson = await createRedisson({ redis })
  const told: string[] = []
  redisson.on('error', (error) => told.push(error.message))
  for (let times = 0; times < 12; times++) await locksEveryKind(redisson)
  return told
}

async function locksEveryKind(redisson: Redisson) {
  const name = uniqueName()
  const other = redisson.getReadWriteLock(uniqueName())
  await redisson.run(async () => {
    for (const lock of [redisson.getLock(name), other.readLock(), other.writeLock()]) {
      await lock.lock()
      await lock.lock()
      expect(await lock.getHoldCount()).to.equal(2)
      await lock.unlock()
      await lock.unlock()
      expect(await lock.isLocked()).to.equal(false)
    }
  })
}

describe('servers without WAIT', () => {
  afterEach(closeAll)

  it('atlas D5: behind sentinels everything works, and it is told once', async () => {
    const setup = await startSentinel({ config: ['rename-command WAIT ""'] })
    try {
      const told = await locksAsUsual(through(setup))
      expect(told).to.have.length(1)
      expect(told[0]).to.contain('WAIT')
    } finally {
      await closeAll()
      await setup.stop()
    }
  })

  it('atlas D5: behind sentinels, with a user who may use neither WAIT nor INFO', async () => {
    const setup = await startSentinel()
    try {
      for (const node of setup.nodes)
        await withClient(node, (client) =>
          client.call('ACL', 'SETUSER', 'limited', 'on', '>pw', '~*', '&*', '+@all', '-wait', '-info'),
        )
      const { sentinels, name } = through(setup) as { sentinels: []; name: string }
      const told = await locksAsUsual({ sentinels, name, username: 'limited', password: 'pw' })
      expect(told.filter((message) => message.includes('WAIT'))).to.have.length(1)
    } finally {
      await closeAll()
      await setup.stop()
    }
  })

  it('atlas D5: in a cluster everything works, and it is told once for all its nodes', async () => {
    const cluster = await startCluster({ replicas: 1, config: ['rename-command WAIT ""'] })
    try {
      const told = await locksAsUsual({
        nodes: cluster.nodes.map(({ host, port }) => ({ host, port })),
      })
      expect(told).to.have.length(1)
      expect(told[0]).to.contain('WAIT')
    } finally {
      await closeAll()
      await cluster.stop()
    }
  })
})
