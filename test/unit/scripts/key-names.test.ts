import { expect } from 'chai'
import calculateSlot from 'cluster-key-slot'
import { lockChannel } from '../../../src/locks/hash-lock-kind'
import { readWriteLockChannel } from '../../../src/locks/read-write-side'
import { sharesSlotWithCompanions } from '../../../src/scripts/key-names'

describe('Names of keys and channels', () => {
  it('The channel of a lock has the name that Java gives it', () => {
    expect(lockChannel('order:42')).to.equal('redisson_lock__channel:{order:42}')
    expect(lockChannel('{order}:42')).to.equal('redisson_lock__channel:{order}:42')
    expect(readWriteLockChannel('order:42')).to.equal('redisson_rwlock:{order:42}')
  })

  it('Key and channel of an ordinary name share one cluster slot', () => {
    for (const name of ['plain', '{a}', 'x{a}y', '{a}{b}', ' {ü ö} ', 'ß', 'x{a}y{}']) {
      expect(sharesSlotWithCompanions(name), name).to.equal(true)
      expect(calculateSlot(lockChannel(name)), name).to.equal(calculateSlot(name))
      expect(calculateSlot(readWriteLockChannel(name)), name).to.equal(calculateSlot(name))
    }
  })

  it('A name whose key and channel would fall into different cluster slots is recognised (D2)', () => {
    for (const name of ['a}b', 'a{b', '{}x', '{', '}', 'x{}'])
      expect(sharesSlotWithCompanions(name), name).to.equal(false)
  })
})
