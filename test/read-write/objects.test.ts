import { expect } from 'chai'
import { createRedisson, openRedis, uniqueName } from '../kit/clients'

describe('Objects of a read-write lock', () => {
  it('A read-write lock and its sides have one name, and the sides are the same objects', async () => {
    const name = uniqueName('rw')
    const lock = (await createRedisson()).getReadWriteLock(name)
    expect(lock.getName()).to.equal(name)
    expect(lock.readLock().getName()).to.equal(name)
    expect(lock.writeLock().getName()).to.equal(name)
    expect(lock.readLock()).to.equal(lock.readLock())
    expect(lock.writeLock()).to.equal(lock.writeLock())
  })

  it('A read-write lock whose name has a hash tag is read and written, and leaves nothing', async () => {
    const redisson = await createRedisson()
    const name = `{${uniqueName('rw')}}:abc:key`
    const lock = redisson.getReadWriteLock(name)
    await redisson.run(() => lock.writeLock().withLock(() => lock.readLock().withLock(() => {})))
    await Promise.all(Array.from({ length: 10 }, () => lock.readLock().withLock(() => {})))
    expect(await (await openRedis()).keys(`*${name}*`)).to.deep.equal([])
  })
})
