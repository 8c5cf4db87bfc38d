import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { LockLostError, type Redisson } from '../../src/index'
import { loadAnotherCopy } from '../kit/another-copy'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { type Standalone, startStandalone } from '../kit/servers/index'

describe('Members that belong to another copy of the package', () => {
  let servers: Standalone[]
  let others: Redisson[]

  before(async () => {
    servers = await Promise.all([0, 1, 2].map(() => startStandalone({ appendonly: true })))
  })
  beforeEach(async () => {
    const copy = loadAnotherCopy()
    others = await Promise.all(servers.map(({ url }) => copy.Redisson.create({ redis: url })))
  })
  afterEach(() => Promise.all(others.map((each) => each.shutdown({ timeout: 0 }))))
  after(() => Promise.all(servers.map((each) => each.stop())))

  for (const isCopy of [false, true])
    describe(isCopy ? 'of another copy' : 'of the same copy', () => {
      const clients = () =>
        isCopy ? others : Promise.all(servers.map(({ url }) => createRedisson({ redis: url })))

      it('A RedLock waits while a quorum is away for some seconds', async () => {
        const maker = await createRedisson({ redis: servers[0]!.url })
        const name = uniqueName('copies')
        const red = maker.getRedLock(...(await clients()).map((each) => each.getLock(name)))
        await Promise.all([servers[1]!.kill(), servers[2]!.kill()])
        try {
          const acquiring = red.acquire()
          acquiring.catch(() => {})
          await sleep(3_000)
          await Promise.all([servers[1]!.restart(), servers[2]!.restart()])
          await (await acquiring).unlock()
        } finally {
          await Promise.all([servers[1]!.restart(), servers[2]!.restart()])
        }
      })

      it('unlock() reports the loss of a member as a LockLostError with members', async () => {
        const maker = await createRedisson({ redis: servers[0]!.url })
        const redis = await openRedis(servers[0]!.url)
        const name = uniqueName('copies')
        const multi = maker.getMultiLock(...(await clients()).map((each) => each.getLock(name)))
        const hold = await multi.acquire()
        await redis.del(name)
        const error = await rejection(hold.unlock())
        expect(error).to.be.instanceOf(LockLostError)
        expect((error as unknown as LockLostError).members?.map(({ state }) => state).sort()).to.deep.equal([
          'lost',
          'released',
          'released',
        ])
      })
    })
})
