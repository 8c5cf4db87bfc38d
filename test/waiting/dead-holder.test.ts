import { expect } from 'chai'
import { closeAll, createRedisson, openRedis, timed, uniqueName } from '../kit/clients'
import { ForeignLock } from '../kit/foreign-lock'
import { killPrograms, Program } from '../kit/program'
import { waitUntil } from '../kit/servers/index'

describe('Waiting for a dead process', () => {
  afterEach(async () => {
    await killPrograms()
    await closeAll()
  })

  it('A waiter acquires the lock of a killed process when its lease ends (A6)', async () => {
    const redis = await openRedis()
    const name = uniqueName()
    const holder = new Program('hold.ts', redis.options.port!.toString(), name, '2000')
    expect(await holder.line()).to.equal('held')
    const redisson = await createRedisson()
    const waiting = redisson.getLock(name).acquire()
    await waitUntil('it waits', async () => (await new ForeignLock(redis, name).listeners()) === 1)
    holder.kill()
    await holder.exit
    const remaining = await redis.pttl(name)
    expect(remaining).to.be.greaterThan(0)
    expect(await timed(() => waiting)).to.be.lessThan(remaining + 1_500)
  })
})
