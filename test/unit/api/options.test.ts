import { expect } from 'chai'
import { Redis } from 'ioredis'
import { Redisson } from '../../../src/index'
import { rejection } from '../../kit/rejection'

describe('Options of Redisson.create', () => {
  // Nothing listens there.
  const url = 'redis://127.0.0.1:1'

  it('Options that make no sense are refused before the client connects (guarantee 8)', async () => {
    const refused: [unknown, ErrorConstructor, RegExp?][] = [
      [undefined, TypeError],
      [null, TypeError],
      [url, TypeError],
      [{}, TypeError, /redis/],
      [{ redis: null }, TypeError],
      [{ redis: 6379 }, TypeError],
      [{ redis: '' }, TypeError],
      [{ redis: 'http://localhost' }, TypeError],
      [{ redis: { nodes: [] } }, TypeError],
      [{ redis: { sentinels: [{ port: 1 }] } }, TypeError, /name/],
      [{ redis: { keyPrefix: 'x:' } }, TypeError, /nameMapper/],
      [{ redis: url, lockWatchDogTimeout: 5 }, TypeError, /lockWatchDogTimeout/],
      [{ redis: url, nameMapper: {} }, TypeError],
      [{ redis: url, nameMapper: (name: string) => name }, TypeError],
      [{ redis: url, shardedSubscriptionMode: 'auto' }, TypeError],
      [{ redis: url, checkLockSyncedSlaves: 1 }, TypeError],
      // V89: the server remembers a request for a minute.
      [{ redis: url, unavailableAfter: 30_001 }, RangeError, /at most 30000 ms/],
      // V124
      [{ redis: url, slavesSyncTimeout: 30_001 }, RangeError, /slavesSyncTimeout must be at most 30000 ms/],
    ]
    for (const option of ['lockWatchdogTimeout', 'lockWatchdogBatchSize', 'slavesSyncTimeout']) {
      for (const value of [0, -1, Number.NaN, Infinity, 2 ** 53])
        refused.push([{ redis: url, [option]: value }, RangeError, new RegExp(option)])
      for (const value of ['5', null, 5n, {}])
        refused.push([{ redis: url, [option]: value }, TypeError, new RegExp(option)])
    }
    for (const [options, type, message] of refused) {
      const error = await rejection(Redisson.create(options as never))
      expect(error, error.message).to.be.instanceOf(type)
      if (message) expect(error.message).to.match(message)
    }
  })

  it('An ioredis instance with a keyPrefix is refused, and stays as it was', async () => {
    const theirs = new Redis(url, { keyPrefix: 'x:', lazyConnect: true })
    expect((await rejection(Redisson.create({ redis: theirs }))).message).to.match(/nameMapper/)
    expect(theirs.status).to.equal('wait')
    theirs.disconnect()
  })

  it('A redis option that makes no sense is refused with a reason and without the password (D7)', async () => {
    const refused: [unknown, RegExp][] = [
      ['not a url s3cret', /is not a valid URL/],
      ['http://alice:s3cret@host', /begins with redis:\/\//],
      ['redis://alice:4/s3cret@host:6379', /percent-encode/],
      ['redis://alice:4#s3cret@host:6379', /percent-encode/],
      ['redis://alice:s3cret%zz@host:6379', /not a valid URL/],
      [42, /must be a URL/],
      [null, /must be a URL/],
      [{ nodes: [] }, /at least one node/],
      [{ nodes: ['redis://:s3cret@bad host'] }, /not a valid URL/],
      [{ sentinels: [{ host: 'h' }], password: 's3cret' }, /redis\.name is missing/],
      [{ host: 'h', keyPrefix: 'app:' }, /keyPrefix.*nameMapper/],
      ['redis://:s3cret@h?keyPrefix=app:', /keyPrefix.*nameMapper/],
      [{ nodes: ['redis://h'], options: { keyPrefix: 'app:' } }, /keyPrefix.*nameMapper/],
      [{ nodes: ['redis://h'], options: { redisOptions: { keyPrefix: 'app:' } } }, /keyPrefix.*nameMapper/],
      [{ nodes: ['redis://h/2'] }, /redisOptions\.db/],
    ]
    for (const [redis, reason] of refused) {
      const error = await rejection(Redisson.create({ redis: redis as string }))
      expect(error, String(redis)).to.be.instanceOf(TypeError)
      expect(error.message).to.match(reason).and.not.contain('s3cret')
    }
  })
})
