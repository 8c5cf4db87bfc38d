import { expect } from 'chai'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { sharedStandalone } from '../kit/servers/index'

/** C0, DEL, C1, the two separators of lines, and what turns the direction of a line around. */
const HARMFUL = '\u0000\n\u001b[31m\u007f\u0085\u009b31m\u2028\u2029\u061c\u200f\u202e\u2066'
const RAW = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u
const LONG = 'x'.repeat(1_000_000)
const LONGEST = 3_000

describe('A name in a message', () => {
  /** What a client says of locks with this name. */
  async function said(name: string): Promise<string[]> {
    const { url } = await sharedStandalone()
    const redis = await openRedis(url)
    await redis.set(name, 'text')
    await redis.call('ACL', 'SETUSER', 'few', 'reset', 'on', '>secret', '~other', '+@all')
    const redisson = await createRedisson({ redis: url })
    const few = await createRedisson({ redis: url.replace('redis://', 'redis://few:secret@') })
    const mapped = await createRedisson({ redis: url, nameMapper: { map: () => '' } })
    const badly = await createRedisson({ redis: url, nameMapper: { map: () => `${name}\ud800` } })
    const errors = [
      await rejection(redisson.getLock(name).lock()),
      await rejection(redisson.getLock(`${name}2`).unlock()),
      await rejection(redisson.getMultiLock(redisson.getLock(name), redisson.getLock(`${name}2`)).unlock()),
      await rejection(few.getLock(name).lock()),
      await rejection(few.getReadWriteLock(name).readLock().lock()),
      await rejection(few.getSemaphore(name).tryAcquire()),
    ]
    for (const get of [
      () => redisson.getLock(`${name}\ud800`),
      () => redisson.getMultiLock(redisson.getLock(name), redisson.getLock(name)),
      () => mapped.getLock(name),
      () => badly.getLock(name),
    ])
      errors.push(await rejection((async () => get())()))
    await redis.del(name)
    return errors.map(({ message }) => message)
  }

  it('A name in a message has no raw control character and breaks no line (V19)', async () => {
    for (const message of await said(`${uniqueName()}${HARMFUL}`)) {
      expect(message).not.to.match(RAW)
      if (!message.includes('nameMapper')) expect(message).to.contain('\\u202e')
    }
  })

  it('A name in a message is shortened if it is long (V19)', async () => {
    for (const message of await said(`${uniqueName()}${LONG}`)) expect(message.length).to.be.below(LONGEST)
  })
})
