import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { createRedisson, openRedis, uniqueName } from '../kit/clients'
import { freshServer, type Standalone } from '../kit/servers/index'

describe('Semaphores and latches named "x" and "{x}"', () => {
  let server: Standalone
  let redisson: Redisson
  let name: string

  // A new server knows no script. So the first call of each is sent again, behind the other one.
  beforeEach(async () => {
    server = await freshServer()
    redisson = await createRedisson({ redis: server.url })
    name = uniqueName('record')
  })

  const freePermits = async () => await (await openRedis(server.url)).get(name)

  it('A release of one is not taken for a request of the other (V97)', async () => {
    const [plain, braced] = [redisson.getSemaphore(name), redisson.getSemaphore(`{${name}}`)]
    await plain.trySetPermits(1)
    await braced.trySetPermits(1)
    await plain.acquire()
    await Promise.all([plain.release(), braced.acquire()])
    expect(await freePermits()).to.equal('1')
  })

  it('An acquisition of one is not taken for a request of the other (V97)', async () => {
    const [plain, braced] = [redisson.getSemaphore(name), redisson.getSemaphore(`{${name}}`)]
    await plain.trySetPermits(1)
    await braced.addPermits(1)
    const [isTaken] = await Promise.all([plain.tryAcquire(), braced.addPermits(1)])
    expect(isTaken).to.equal(true)
    expect(await freePermits()).to.equal('0')
  })

  it('A name of several braces keeps its record where rights to single keys expect it', async () => {
    const several = `{${name}}:{a}`
    await redisson.getSemaphore(several).addPermits(1)
    const redis = await openRedis(server.url)
    expect(await redis.exists(`rlock_requests:${several}:${redisson.getId()}`)).to.equal(1)
  })
})
