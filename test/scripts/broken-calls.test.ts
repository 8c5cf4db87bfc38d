import { expect } from 'chai'
import { RedisUnavailableError } from '../../src/index'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { waitUntil } from '../kit/servers/index'
import { type ScriptSent, tapped } from '../kit/tapped-transport'

/** Each kind has a script of its own for a try. */
const KINDS = ['lock', 'fair', 'token', 'read', 'write'] as const

describe('A call that fails in this client', () => {
  redisAndName()

  /** A client whose calls to acquire fail in this way while the switch is on. */
  async function open(fail: (sent: ScriptSent) => Promise<unknown>) {
    const broken = { isOn: false }
    const transport = tapped((sent) => (broken.isOn ? fail(sent) : sent.pass()))
    const redisson = await createRedisson({}, { transport })
    const lockOf = (kind: (typeof KINDS)[number], name: string) =>
      ({
        lock: () => redisson.getLock(name),
        fair: () => redisson.getFairLock(name),
        token: () => redisson.getTokenLock(name),
        read: () => redisson.getReadWriteLock(name).readLock(),
        write: () => redisson.getReadWriteLock(name).writeLock(),
      })[kind]()
    return { redisson, broken, lockOf }
  }

  for (const kind of KINDS)
    it(`A try for a lock (${kind}) that throws when sent fails its caller only (V29)`, async () => {
      const { broken, lockOf } = await open(() => {
        throw new TypeError('thrown by a patch')
      })
      const lock = lockOf(kind, uniqueName())
      broken.isOn = true
      const error = await rejection(lock.acquire())
      expect(error).to.be.instanceOf(RedisUnavailableError)
      expect(error.message).to.include('thrown by a patch').and.to.include('may have been applied')
      broken.isOn = false
      await (await lock.acquire()).unlock()
    })

  it('A call that throws after it was sent leaves no lock behind (V29)', async () => {
    const { broken, lockOf } = await open((sent) => {
      void sent.pass().catch(() => {})
      broken.isOn = false
      throw new TypeError('thrown by a patch')
    })
    await lockOf('lock', uniqueName()).withLock(() => {})
    broken.isOn = true
    await rejection(lockOf('lock', name).acquire())
    await waitUntil('it is released', async () => (await redis.exists(name)) === 0)
  })

  it('An answer that no script gives names the call, and that it may be applied (V35)', async () => {
    const { broken, lockOf, redisson } = await open(async (sent) => {
      await sent.pass()
      return 'HTTP/1.1 400 Bad Request'.length
    })
    const hold = await lockOf('lock', name).acquire()
    broken.isOn = true
    const error = await rejection(hold.unlock())
    expect(error).to.be.instanceOf(RedisUnavailableError)
    expect(error.message).to.include('lock/release').and.to.include(name).and.to.include(redisson.getId())
    expect(error.message).to.include('may have been applied').and.not.to.include('did not answer')
  })
})
