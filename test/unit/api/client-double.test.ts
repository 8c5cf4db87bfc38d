import { expect } from 'chai'
import { Redisson, type RedissonClient } from '../../../src/index'

const { prototype } = Redisson

/** A double with every public member of a client, and without what is private in it. */
class Double implements RedissonClient {
  isConnected = true
  getLock = prototype.getLock
  getReadWriteLock = prototype.getReadWriteLock
  getFairLock = prototype.getFairLock
  getNonReentrantFairLock = prototype.getNonReentrantFairLock
  getFencedLock = prototype.getFencedLock
  getNonReentrantLock = prototype.getNonReentrantLock
  getSpinLock = prototype.getSpinLock
  getTokenLock = prototype.getTokenLock
  getCountDownLatch = prototype.getCountDownLatch
  getMultiLock = prototype.getMultiLock
  getRedLock = prototype.getRedLock
  getSemaphore = prototype.getSemaphore
  getPermitExpirableSemaphore = prototype.getPermitExpirableSemaphore
  getRateLimiter = prototype.getRateLimiter
  run = prototype.run
  runOnce = prototype.runOnce
  getId = () => 'double'
  on = () => this
  once = () => this
  off = () => this
  holds = () => []
  waiters = () => []
  ping = async () => {}
  stats = prototype.stats
  shutdown = async () => {};
  [Symbol.asyncDispose] = async () => {}
}

describe('RedissonClient', () => {
  it('A double of a test implements it, and its listeners chain to the double', () => {
    const client: RedissonClient = new Double()
    expect(
      client
        .on('error', () => {})
        .off('error', () => {})
        .getId(),
    ).to.equal('double')
  })
})
