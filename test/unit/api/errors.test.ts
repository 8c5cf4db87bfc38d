import { expect } from 'chai'
import {
  IllegalMonitorStateError,
  LockLostError,
  LockNotReplicatedError,
  LockQuorumError,
  RedisRefusedError,
  RedissonError,
  RedissonShutdownError,
  RedisUnavailableError,
  WrongTypeError,
} from '../../../src/index'

describe('Error classes', () => {
  it('Every error is a RedissonError with a stable code and name', () => {
    const codes = [
      new IllegalMonitorStateError('m'),
      new LockLostError('m', 'lock', 5),
      new RedissonShutdownError('m'),
      new LockNotReplicatedError('m'),
      new LockQuorumError('m', 'lock', []),
      new RedisUnavailableError('m'),
      new RedisRefusedError('m', 'NOPERM'),
      new WrongTypeError('m'),
    ].map((error) => {
      expect(error).to.be.instanceOf(RedissonError).and.instanceOf(Error)
      expect(error.message).to.equal('m')
      return [error.name, error.code]
    })
    expect(codes).to.deep.equal([
      ['IllegalMonitorStateError', 'ILLEGAL_MONITOR_STATE'],
      ['LockLostError', 'LOCK_LOST'],
      ['RedissonShutdownError', 'REDISSON_SHUTDOWN'],
      ['LockNotReplicatedError', 'LOCK_NOT_REPLICATED'],
      ['LockQuorumError', 'LOCK_QUORUM'],
      ['RedisUnavailableError', 'REDIS_UNAVAILABLE'],
      ['RedisRefusedError', 'REDIS_REFUSED'],
      ['WrongTypeError', 'WRONG_TYPE'],
    ])
    expect(new LockLostError('m', 'lock', 5)).to.be.instanceOf(IllegalMonitorStateError)
    expect(new LockLostError('m', 'lock', 5)).to.include({ lockName: 'lock', threadId: 5 })
    expect(new RedisRefusedError('m', 'NOPERM', { cause: 'why' })).to.include({
      reply: 'NOPERM',
      cause: 'why',
    })
    expect(new WrongTypeError('m', { cause: 'why' }).cause).to.equal('why')
  })
})
