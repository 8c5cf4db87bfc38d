import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { createRedisson, uniqueName } from '../kit/clients'

/** Half of an emoji: what `slice` leaves of a name cut by length. On its way to Redis it becomes U+FFFD. */
const CUT_EMOJI = '😀😀'.slice(0, 3)

describe('A name that is no well-formed Unicode', () => {
  const getters: [string, (redisson: Redisson, name: string) => unknown][] = [
    ['getLock', (redisson, name) => redisson.getLock(name)],
    ['getReadWriteLock', (redisson, name) => redisson.getReadWriteLock(name)],
  ]
  for (const [getter, get] of getters) {
    it(`A name that is no well-formed Unicode is a TypeError of ${getter}, which shows the name`, async () => {
      const redisson = await createRedisson()
      for (const name of [CUT_EMOJI, '\udc00', `${uniqueName()}\ud800`, '\udc00\ud800'])
        expect(() => get(redisson, name)).to.throw(TypeError, JSON.stringify(name))
    })

    it(`A mapped name that is no well-formed Unicode is a TypeError of ${getter}`, async () => {
      const redisson = await createRedisson({ nameMapper: { map: (name) => name.slice(0, 3) } })
      expect(() => get(redisson, '😀😀')).to.throw(TypeError, /nameMapper\.map.*\\ud83d/)
      get(redisson, 'abcd')
    })
  }

  it('A name that is no well-formed Unicode differs from one with whole emoji, which is taken', async () => {
    const redisson = await createRedisson()
    const lock = redisson.getLock(`${uniqueName()}😀\ufffd`)
    await lock.withLock(() => {})
  })
})
