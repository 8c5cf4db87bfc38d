import { once } from 'node:events'
import { expect } from 'chai'
import { createRedisson, rejection, uniqueName } from '../../../test/kit/clients'
import { freshName, name, redis, redisAndName } from '../../../test/kit/each-test'
import { ownServer, waitUntil } from '../../../test/kit/servers/index'
import { hasTerminal, onTerminal, rlock } from './cli'

const JAVA = '0b6d2a3e-1111-4222-8333-944444444444'

describe('rlock unlock', function () {
  freshName()

  this.timeout(60_000)
  const server = ownServer()
  redisAndName('test', { server })

  const create = () => createRedisson({ redis: server.url })
  const unlock = (name: string, ...args: string[]) =>
    rlock(['unlock', name, '--redis', server.url, '--yes', '--json', ...args])

  it('rlock unlock frees a lock and wakes its waiter; its holder notices at its next renewal', async () => {
    const holder = await createRedisson({ redis: server.url, lockWatchdogTimeout: 1_500 })
    const waiter = await create()
    const hold = await holder.getLock(uniqueName()).acquire()
    const waiting = waiter.getLock(hold.lockName).acquire()
    await waitUntil('it waits', () => waiter.stats().waiting === 1)
    const { code, json } = await unlock(hold.lockName)
    expect(code).to.equal(0)
    expect(json).to.deep.equal([{ name: hold.lockName, result: 'freed', owners: [hold.owner] }])
    await (await waiting).unlock()
    if (!hold.signal.aborted) await once(hold.signal, 'abort')
  })

  for (const [kind, lockOf] of [
    ['fair', (client, name) => client.getFairLock(name)],
    ['fenced', (client, name) => client.getFencedLock(name)],
    ['read', (client, name) => client.getReadWriteLock(name).readLock()],
    ['write', (client, name) => client.getReadWriteLock(name).writeLock()],
    ['token', (client, name) => client.getTokenLock(name)],
  ] as [
    string,
    (client: Awaited<ReturnType<typeof create>>, name: string) => ReturnType<typeof client.getLock>,
  ][])
    it(`rlock unlock frees a ${kind} lock and wakes its waiter`, async () => {
      const [holder, waiter] = [await create(), await create()]
      await lockOf(holder, name).acquire()
      const side = kind === 'read' ? waiter.getReadWriteLock(name).writeLock() : lockOf(waiter, name)
      const waiting = side.acquire()
      await waitUntil('it waits', () => waiter.stats().waiting === 1)
      if (kind === 'fair')
        await waitUntil('it queues', async () => (await redis.llen(`redisson_lock_queue:{${name}}`)) === 1)
      const args = kind === 'token' ? ['--kind', 'token'] : []
      const { code, json, err } = await unlock(name, ...args)
      expect([code, json[0]?.result], err).to.deep.equal([0, 'freed'])
      await (await waiting).unlock()
    })

  it('rlock unlock frees only the holder that --owner names, of several readers only that one', async () => {
    const [one, two] = [await create(), await create()]
    const first = await one.getReadWriteLock(name).readLock().acquire()
    const second = await two.getReadWriteLock(name).readLock().acquire()
    expect((await unlock(name, '--owner', `${JAVA}:7`)).code).to.equal(1)
    const { json } = await unlock(name, '--owner', first.owner)
    expect(json[0]).to.deep.equal({ name, result: 'others hold it still', owners: [first.owner] })
    expect(await redis.hkeys(name)).to.have.members(['mode', second.owner])
    await second.unlock()
  })

  it('rlock unlock ends with 1 for a lock that is free, and with 2 without a terminal and --yes', async () => {
    expect((await unlock(name)).code).to.equal(1)
    expect((await rlock(['unlock', name, '--redis', server.url])).code).to.equal(2)
    expect((await rlock(['unlock', '--redis', server.url, '--yes'])).code).to.equal(2)
    await redis.set(name, 5)
    expect((await unlock(name)).code).to.equal(1)
    expect(await redis.get(name)).to.equal('5')
  })

  it('rlock unlock asks on a terminal, and frees nothing that changed hands meanwhile', async function () {
    if (!hasTerminal()) this.skip()
    const ask = async (answer: string, meanwhile: () => Promise<unknown>) => {
      await redis.del(name)
      await redis.hset(name, `${JAVA}:1`, 1)
      const run = await onTerminal(['unlock', name, '--redis', server.url])
      await waitUntil('it asks', () => run.out.includes('[y/N]'))
      expect(run.out).to.contain(`${JAVA}:1`)
      await meanwhile()
      run.child.stdin!.write(`${answer}\n`)
      return await run.ended
    }
    const other = () => redis.multi().hdel(name, `${JAVA}:1`).hset(name, `${JAVA}:2`, 1).exec()
    const taken = await ask('y', other)
    expect([taken.code, await redis.hkeys(name)]).to.deep.equal([1, [`${JAVA}:2`]])
    expect(taken.out).to.contain('held by another')
    const refused = await ask('n', async () => {})
    expect([refused.code, await redis.hkeys(name)]).to.deep.equal([1, [`${JAVA}:1`]])
    const freed = await ask('y', async () => {})
    expect([freed.code, await redis.exists(name)]).to.deep.equal([0, 0])
  })

  it('rlock unlock frees one permit that --owner names and wakes its waiter', async () => {
    const [holder, waiter] = [await create(), await create()]
    const semaphore = holder.getPermitExpirableSemaphore(name)
    await semaphore.trySetPermits(2)
    const [first, second] = [
      await semaphore.acquirePermit({ leaseTime: 600_000 }),
      await semaphore.acquirePermit({ leaseTime: 600_000 }),
    ]
    const waiting = waiter.getPermitExpirableSemaphore(name).acquirePermit()
    await waitUntil('it waits', () => waiter.stats().waiting === 1)
    expect((await unlock(name)).code).to.equal(2)
    const { json, code, err } = await unlock(name, '--owner', `permit:${first.id}`)
    expect([code, json[0]?.result], err).to.deep.equal([0, 'freed'])
    await (await waiting).release()
    expect((await rejection(first.release())).code).to.equal('PERMIT_NOT_HELD')
    await second.release()
  })

  it('rlock unlock says that a latch and a semaphore have no holder, and changes nothing', async () => {
    const client = await create()
    const [latch, semaphore] = [client.getCountDownLatch(uniqueName()), client.getSemaphore(uniqueName())]
    await latch.trySetCount(2)
    await semaphore.trySetPermits(3)
    for (const [name, kind] of [
      [latch.getName(), 'latch'],
      [semaphore.getName(), 'semaphore'],
    ] as const)
      expect((await unlock(name, '--kind', kind)).json[0].result).to.contain(`a ${kind}, which has no holder`)
    expect([await latch.getCount(), await semaphore.availablePermits()]).to.deep.equal([2, 3])
  })
})
