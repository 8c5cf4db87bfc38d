import { expect } from 'chai'
import type { Excuse, KeyChanged, ObjectKind } from '../../judge/history'
import { Written } from './written-history'

const written = (kind: ObjectKind = 'lock') => new Written({ kind, name: 'x' }).java('j')

/** A Java thread holds it until the server has it no more, and another caller comes in. */
function taken(how: Partial<KeyChanged>, excuse?: Excuse, name = 'x') {
  const one = written()
  const id = one.call('j/1')
  one.key({ owners: ['j:1'] }).returned(id, { owners: ['j:1'] })
  if (excuse) one.fault({ excuses: [excuse], until: 50, names: [name] })
  one.key({ owners: [], ...how })
  one.acquires('a/1')
  one.acts(id)
  return one.broken
}

describe('What the server takes from a Java client', () => {
  it('A hold whose key ran out is over where something kept its renewals away', () => {
    expect(taken({ expired: true }, 'loss')).to.deep.equal([])
    expect(taken({ expired: true })).to.include('exclusion')
    expect(taken({ expired: true }, 'loss', 'other')).to.include('exclusion')
    expect(taken({ expired: true }, 'delay')).to.include('exclusion')
  })

  it('A hold that a command took out is over only where it was force or a loss of data', () => {
    expect(taken({}, 'force')).to.deep.equal([])
    expect(taken({}, 'data')).to.deep.equal([])
    expect(taken({}, 'loss')).to.include('exclusion')
  })

  it('A hold whose key ran out before its delayed answer is over', () => {
    const late = (excuse: Excuse) => {
      const one = written()
      const id = one.call('j/1')
      one.key({ owners: ['j:1'] }).fault({ excuses: [excuse], until: 50 })
      one.key({ expired: true })
      one.acquires('a/1')
      return one.returned(id, { owners: ['j:1'] }).acts(id).broken
    }
    expect(late('loss')).to.deep.equal([])
    expect(late('delay')).to.include('exclusion')
  })

  it('A hold of this package does not end with its key: its client tells the caller', () => {
    const one = written()
    const id = one.call('b/1')
    one.key({ owners: ['b:1'] }).returned(id, { owners: ['b:1'] })
    one.fault({ excuses: ['loss'], until: 50 }).key({ expired: true })
    one.acquires('a/1')
    expect(one.broken).to.include('exclusion')
  })

  it('A failover may undo the tokens of Java alone', () => {
    const tokens = (who: string) => {
      const one = written('fenced')
      one.releases(who, one.acquires(who, {}, { token: 5 }))
      one.fault({ rewinds: true })
      one.releases('a/1', one.acquires('a/1', {}, { token: 5 }))
      return one.broken
    }
    expect(tokens('j/1')).to.deep.equal([])
    expect(tokens('b/1')).to.include('token')
  })

  it('Java releases a fair lock that is gone with success, and no other lock', () => {
    const releases = (kind: ObjectKind) => {
      const one = written(kind)
      const id = one.call('j/1')
      one.key({ owners: ['j:1'] }).returned(id, { owners: ['j:1'] })
      one.fault({ excuses: ['loss'], until: 50 }).key({ expired: true })
      return one.releases('j/1', id).broken
    }
    expect(releases('fair')).to.deep.equal([])
    expect(releases('lock')).to.include('not-linearizable')
  })
})

describe('What a waiter may not know', () => {
  const waits = (kind: ObjectKind, free: number, { before = false, expired = true } = {}) => {
    const one = new Written({ kind, name: 'x' })
    one.key({ owners: ['o:1'] })
    if (before) one.client('a', 'suspended').at(600).client('a', 'resumed')
    const id = one.call('a/1')
    one.at(1_000).key({ owners: [], ...(expired ? { expired: true, ttlSaid: 1_000 } : {}) })
    one.at(1_000 + free).returned(id)
    return one.broken
  }

  it('A client that was suspended read the TTL so much later', () => {
    expect(waits('lock', 700, { before: true })).to.deep.equal([])
    expect(waits('lock', 700)).to.include('asleep')
    expect(waits('lock', 2_000, { before: true })).to.include('asleep')
  })

  it('A waiter for a fair lock that ran out looks again with its next refresh', () => {
    expect(waits('fair', 1_740)).to.deep.equal([])
    expect(waits('fair', 1_740, { expired: false })).to.include('asleep')
    expect(waits('fair', 2_500)).to.include('asleep')
  })

  it('A place of a fair lock stays where its leave was refused and no caller came later', () => {
    const left = (fault: boolean, later: boolean) => {
      const one = new Written({ kind: 'fair', name: 'x' })
      const id = one.call('a/1')
      if (fault) one.fault({ excuses: ['errors'], until: 100 })
      one.failed(id, 'AbortError')
      if (later) one.releases('b/1', one.at(20_000).acquires('b/1'))
      return one.ends([{ key: 'redisson_lock_queue:{x}', ttl: -1 }]).broken
    }
    expect(left(true, false)).to.deep.equal([])
    expect(left(false, false)).to.deep.equal(['left-over'])
    expect(left(true, true)).to.deep.equal(['left-over'])
  })
})

describe('A machine that slept while its wall clock was set back', () => {
  const sleeps = (setBack: boolean, goesOn: (one: Written, hold: number) => void) => {
    const one = new Written({ kind: 'lock', name: 'x' })
    const hold = one.acquires('a/1', { lease: 50 })
    one.client('a', 'suspended')
    if (setBack) one.fault({ clients: ['a'], excuses: ['set back'] })
    const other = one.at(500).acquires('b/1')
    one.client('a', 'resumed')
    goesOn(one, hold)
    return one.releases('b/1', other).broken
  }

  it('Its client acts, because it does not see that its lease is over', () => {
    const acts = (one: Written, hold: number) => one.acts(hold).told(hold, 'lease')
    expect(sleeps(true, acts)).to.deep.equal([])
    expect(sleeps(false, acts)).to.include('exclusion')
  })

  it('Its client enters with an earlier answer, whose age it does not see', () => {
    const late = (setBack: boolean) => {
      const one = new Written({ kind: 'lock', name: 'x' })
      const id = one.call('a/1', 'acquire', { lease: 50 })
      one.client('a', 'suspended')
      if (setBack) one.fault({ clients: ['a'], excuses: ['set back'] })
      const other = one.at(500).acquires('b/1')
      one.client('a', 'resumed').returned(id).acts(id).told(id, 'lease')
      return one.releases('b/1', other).broken
    }
    expect(late(true)).to.deep.equal([])
    expect(late(false)).to.include('exclusion')
  })

  it('Its release may take the missing hold for its own first copy', () => {
    const releases = (one: Written, hold: number) => one.releases('a/1', hold)
    expect(sleeps(true, releases)).to.deep.equal([])
    expect(sleeps(false, releases)).to.include('not-linearizable')
  })
})
