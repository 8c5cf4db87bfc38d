import type { RedissonOptions, ShutdownOptions, TryLockOptions } from '../../src/index'
import { createRedisson, uniqueName } from '../kit/clients'

// That this compiles under exactOptionalPropertyTypes is half of what it shows.
describe('An option that is undefined', () => {
  it('An option that is undefined means its default, whichever option it is', async () => {
    const options: Partial<RedissonOptions> = {
      lockWatchdogTimeout: undefined,
      lockWatchdogBatchSize: undefined,
      checkLockSyncedSlaves: undefined,
      slavesSyncTimeout: undefined,
      shardedSubscriptionMode: undefined,
      nameMapper: undefined,
    }
    const redisson = await createRedisson(options)
    const lock = redisson.getLock(uniqueName())
    const trying: TryLockOptions = {
      waitTime: undefined,
      leaseTime: undefined,
      threadId: undefined,
      signal: undefined,
    }
    await lock.tryLock(trying)
    await lock.unlock({ threadId: undefined })
    const ending: ShutdownOptions = { timeout: undefined }
    await redisson.shutdown(ending)
  })
})
