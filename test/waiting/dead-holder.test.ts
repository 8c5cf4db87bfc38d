import { expect } from 'chai'
import { createRedisson, timed, uniqueName } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'
import { ForeignLock } from '../kit/foreign-lock'
import { JumpingClock } from '../kit/jumping-clock'
import { Program } from '../kit/program'
import { waitUntil } from '../kit/servers/index'
import { asleep } from '../kit/sleepers'

describe('Waiting for a dead process', () => {
  clientAndRedis()

  it('A waiter acquires the lock of a killed process when its lease ends (A6)', async () => {
    const holder = new Program('hold.ts', redis.options.port!.toString(), name, '2000')
    expect(await holder.line()).to.equal('held')
    const waiting = redisson.getLock(name).acquire()
    await waitUntil('it waits', async () => (await new ForeignLock(redis, name).listeners()) === 1)
    holder.kill()
    await holder.exit
    const remaining = await redis.pttl(name)
    expect(remaining).to.be.greaterThan(0)
    expect(await timed(() => waiting)).to.be.lessThan(remaining + 1_500)
  })

  it('A waiter whose machine was suspended looks whether the lease has ended (V197)', async () => {
    const foreign = new ForeignLock(redis, uniqueName())
    await foreign.take(60_000)
    const clock = new JumpingClock()
    const redisson = await createRedisson({}, { clock })
    const waiting = redisson.getLock(foreign.name).acquire()
    await asleep(redisson, `lock ${foreign.name}`)
    // Time goes on elsewhere, and no message tells that the lease has ended.
    await redis.del(foreign.name)
    clock.jumped += 60_000
    expect(await timed(() => waiting)).to.be.lessThan(20_000)
  })
})
