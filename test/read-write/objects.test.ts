import { expect } from 'chai'
import { createRedisson, uniqueName } from '../kit/clients'

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
})
