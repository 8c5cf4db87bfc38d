import { expect } from 'chai'
import { closeAll, createRedisson, openRedis, uniqueName } from '../kit/clients'
import { startStandalone } from '../kit/servers/index'

describe('Semaphores named "x" and "{x}"', () => {
  afterEach(closeAll)

  it('A release of one is not taken for a request of the other', async () => {
    const server = await startStandalone()
    try {
      const redisson = await createRedisson({ redis: server.url })
      const redis = await openRedis(server.url)
      const name = uniqueName('record')
      const plain = redisson.getSemaphore(name)
      const braced = redisson.getSemaphore(`{${name}}`)
      await plain.trySetPermits(1)
      await braced.trySetPermits(1)
      await plain.acquire()
      // The server does not know the script of the release, so that is sent again, behind the acquisition.
      await Promise.all([plain.release(), braced.acquire()])
      expect(await redis.get(name)).to.equal('1')
    } finally {
      await server.stop()
    }
  })

  it('An acquisition of one is not taken for a request of the other', async () => {
    const server = await startStandalone()
    try {
      const redisson = await createRedisson({ redis: server.url })
      const redis = await openRedis(server.url)
      const name = uniqueName('record')
      const plain = redisson.getSemaphore(name)
      const braced = redisson.getSemaphore(`{${name}}`)
      await plain.trySetPermits(1)
      await braced.addPermits(1)
      // The server does not know the script of the acquisition, so that is sent again, behind the change.
      const [isTaken] = await Promise.all([plain.tryAcquire(), braced.addPermits(1)])
      expect(isTaken).to.equal(true)
      expect(await redis.get(name)).to.equal('0')
    } finally {
      await server.stop()
    }
  })
})
