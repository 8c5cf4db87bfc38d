import { expect } from 'chai'
import type { History, ObjectKind } from '../../judge/history'
import { judge } from '../../judge/judge'
import { Written } from './written-history'

const written = (kind: ObjectKind = 'lock') => new Written({ kind, name: 'x' })

describe('The rules about what the server has', () => {
  it('A lock has one owner at a time, and a read-write lock one writer (guarantee 1)', () => {
    const owners = (kind: ObjectKind, ...names: string[]) => written(kind).key({ owners: names }).broken
    expect(owners('lock', 'a:1')).to.deep.equal([])
    expect(owners('lock', 'a:1', 'b:1')).to.deep.equal(['owners'])
    expect(owners('read', 'a:1', 'b:1')).to.deep.equal([])
    expect(owners('write', 'a:1:write', 'b:1:write')).to.deep.equal(['owners'])
  })

  it('A renewal does not make a lock again that was taken out (B8)', () => {
    const again = (acquires: boolean) => {
      const one = written()
      one.fault({ excuses: ['data', 'delay', 'loss', 'force'], until: 9_000 })
      const id = one.call('a/1')
      one.key({ owners: ['a:1'] }).returned(id, { owners: ['a:1'] })
      one.key({ owners: [] })
      if (acquires) one.call('a/1')
      one.key({ owners: ['a:1'] }).told(id)
      return one.key({ owners: [] }).broken
    }
    expect(again(true)).to.deep.equal([])
    expect(again(false)).to.deep.equal(['owners'])
  })

  it('A reader may end the hold of another one after a DEL, and otherwise not', () => {
    const frees = (by: readonly string[]) => {
      const one = written('read')
      one.fault({ excuses: ['data', 'delay', 'loss', 'force'], until: 9_000 })
      const first = one.acquires('a/1', {}, { owners: ['a:1'] })
      one.key({ owners: ['a:1'] })
      if (by[0] !== 'DEL') one.releases('a/1', first)
      one.key({ owners: [], by })
      one.acquires('a/2', {}, { owners: ['a:2'] })
      one.key({ owners: ['a:2'] })
      const release = one.call('a/1', 'release', { hold: first })
      return one.key({ owners: [], by: ['read-lock/release', 'a:2'] }).returned(release).broken
    }
    expect(frees(['DEL'])).to.deep.equal([])
    expect(frees(['read-lock/release', 'a:1'])).to.deep.equal(['owners'])
  })

  it('No key keeps an owner that no caller is (guarantee 4)', () => {
    const keeps = (until: number, fault = false) => {
      const one = written()
      const hold = one.acquires('a/1', {}, { owners: ['a:1'] })
      one.key({ owners: ['a:1'] })
      one.releases('a/1', hold)
      if (fault) one.fault({ clients: ['a'], until: 4_000, excuses: ['delay'] })
      return one.at(until).key({ owners: [] }).broken
    }
    expect(keeps(500)).to.deep.equal([])
    expect(keeps(4_000)).to.deep.equal(['owners'])
    expect(keeps(4_000, true)).to.deep.equal([])
  })

  it('A caller does not wait for the first copy of its own command (guarantee 4)', () => {
    const waits = (ms: number) => {
      const one = written()
      const id = one.call('a/1')
      one.key({ owners: ['a:1'] })
      return one.at(ms).returned(id, { owners: ['a:1'] }).broken
    }
    expect(waits(100)).to.deep.equal([])
    expect(waits(2_500)).to.deep.equal(['owners'])
  })

  it('A lock is not refused to the owner that has it, also while faults excuse a delay (K1)', async () => {
    const history = (type: string) =>
      ({
        ...written().fault({ excuses: ['delay'], until: 9_000 }).history,
        events: [{ type, at: 1, name: 'x', owner: 'a:1', owners: ['a:1'] }],
      }) as unknown as History
    expect(judge(history('key'))).to.deep.equal([])
    expect(judge(history('own-refused')).map(({ rule }) => rule)).to.deep.equal(['owners'])
  })

  it('A fair lock is taken in order of arrival, also without a queue on the server', () => {
    const arrives = (gap: number) => {
      const one = written('fair')
      const first = one.call('a/1')
      const second = one.at(gap).call('b/1')
      one.returned(second).releases('b/1', second)
      return one.returned(first).broken
    }
    expect(arrives(3)).to.deep.equal([])
    expect(arrives(30)).to.deep.equal(['fair-order'])
  })

  it('No permit is free while a caller has it, and none is gone at the end (S2)', () => {
    const values = (free: number, last: number, error?: string) => {
      const one = written('semaphore')
      one.returned(one.call('m/1', 'set', { units: 2 })).key({ value: 2 })
      const hold = one.acquires('a/1')
      one.key({ value: free }).releases('a/1', hold)
      if (error) one.failed(one.call('b/1'), error, true)
      return one.key({ value: last }).ends([{ key: 'x', ttl: -1 }]).broken
    }
    expect(values(1, 2)).to.deep.equal([])
    expect(values(2, 2)).to.deep.equal(['permits'])
    expect(values(1, 1)).to.deep.equal(['permits'])
    expect(values(1, 1, 'LOCK_TIMEOUT')).to.deep.equal(['permits'])
    expect(values(1, 1, 'REDIS_UNAVAILABLE')).to.deep.equal(['unexpected-error'])
  })

  it('A call counts a latch down once (L3)', () => {
    const counts = (...values: number[]) => {
      const twice = written('latch')
      const set = twice.call('m/1', 'set', { units: 3 })
      twice.key({ value: 3 }).returned(set)
      const down = twice.call('a/1', 'count-down')
      for (const value of values) twice.key({ value })
      return twice.returned(down).broken
    }
    expect(counts(2)).to.deep.equal([])
    expect(counts(2, 1)).to.deep.equal(['latch'])
    expect(counts(3)).to.deep.equal([])
    expect(counts(5)).to.deep.equal(['latch'])
  })
})
