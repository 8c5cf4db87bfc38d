import { expect } from 'chai'
import type { Called, ObjectKind } from '../../judge/history'
import { Written } from './written-history'

const READ = { kind: 'read', name: 'x' } as const
const written = (kind: ObjectKind = 'lock') => new Written({ kind, name: 'x' })

describe('The rules of a simulated history', () => {
  it('No owner is inside beside another that was not told (guarantee 1)', () => {
    const one = written()
    const hold = one.acquires('a/1')
    one.told(hold)
    one.acquires('b/1')
    expect(one.broken).to.deep.equal(['unexplained-loss'])
    const two = written()
    two.acquires('a/1')
    two.acquires('b/1')
    expect(two.broken).to.include.members(['exclusion', 'not-linearizable'])
  })

  it('A level with a lease ends with it, although the hold began with one that is renewed', () => {
    for (const [lease, broken] of [
      [200, []],
      [undefined, ['unexplained-loss']],
    ] as const) {
      const one = written()
      one.acquires('a/1')
      const inner = one.acquires('a/1', lease === undefined ? {} : { lease }, { level: 2 })
      one.releases('a/1', 1)
      one.told(inner)
      expect(one.broken).to.deep.equal(broken)
    }
  })

  it('A hold with a maxHoldTime ends with it: told before, and let go by the server', () => {
    const held = (limit: number | undefined, toldAt: number, freeAt: number) => {
      const one = written()
      const hold = one.acquires('a/1', { limit }, { owners: ['a'] })
      one.key({ owners: ['a'] })
      if (freeAt > toldAt) one.at(toldAt).told(hold)
      one.at(freeAt).key({ owners: [], expired: true })
      if (freeAt <= toldAt) one.at(toldAt).told(hold)
      one.at(3_000).ends()
      return one.broken
    }
    expect(held(1_000, 901, 1_001)).to.deep.equal([])
    expect(held(undefined, 901, 1_001)).to.deep.equal(['unexplained-loss'])
    expect(held(1_000, 500, 1_001)).to.deep.equal(['unexplained-loss'])
    expect(held(1_000, 1_100, 1_001)).to.include('limit')
    expect(held(1_000, 901, 1_100)).to.deep.equal(['limit'])
  })

  it('A server that forgot what it confirmed excuses two owners (guarantee 1)', () => {
    const one = written()
    one.acquires('a/1')
    one.fault({ excuses: ['data', 'delay', 'loss'] })
    one.acquires('b/1')
    expect(one.broken).to.deep.equal([])
  })

  it('An owner that the server forgot is told when its lease is over at the latest (B8)', () => {
    const told = (at: number) => {
      const one = written()
      const hold = one.acquires('a/1')
      one.fault({ excuses: ['data', 'delay', 'loss', 'force'] })
      one.acquires('b/1')
      one.at(at).told(hold)
      one.at(9_000).acts(hold)
      return one.broken
    }
    expect(told(2_000)).to.deep.equal([])
    expect(told(8_000)).to.include('exclusion')
  })

  it('A suspended owner may be inside beside another until it acts (guarantee 1)', () => {
    const acts = (looksFirst: boolean) => {
      const one = written()
      const hold = one.acquires('a/1', { lease: 10 })
      one.client('a', 'suspended')
      one.at(20).acquires('b/1')
      one.client('a', 'resumed')
      if (looksFirst) one.told(hold, 'not-held')
      else one.acts(hold)
      return one.broken
    }
    expect(acts(true)).to.deep.equal([])
    expect(acts(false)).to.include('exclusion')
  })

  it('The hold of a killed client ends with it (guarantee 1)', () => {
    const one = written()
    one.acquires('a/1')
    one.client('a', 'killed')
    one.acquires('b/1')
    expect(one.broken).to.deep.equal([])
  })

  it('A multi lock excludes the owners of its members (M1)', () => {
    const members = [
      { kind: 'lock', name: 'x' },
      { kind: 'lock', name: 'y' },
    ] as const
    const one = written()
    one.acquires('a/1', { object: { kind: 'multi', name: 'x+y', members } })
    one.acquires('b/1')
    expect(one.broken).to.include('exclusion')
  })

  it('Tokens rise from one section to the next (K1)', () => {
    const tokens = (...drawn: number[]) => {
      const one = written('fenced')
      for (const token of drawn) one.releases('a/1', one.acquires('a/1', {}, { token }))
      return one.broken
    }
    expect(tokens(1, 2, 4)).to.deep.equal([])
    expect(tokens(1, 2, 2)).to.include('token')
  })

  it('Only a server that lost its keys draws tokens anew (F4)', () => {
    const tokens = (fault: { forgets?: true }, second = 'b/1') => {
      const one = written('fenced')
      one.releases('a/1', one.acquires('a/1', {}, { token: 5 }))
      one.fault({ excuses: ['data'], recovery: 10, ...fault })
      for (const [at, token] of [
        [10, 1],
        [40, 2],
      ] as const)
        one.releases(second, one.at(at).acquires(second, {}, { token }))
      return one.broken
    }
    expect(tokens({ forgets: true })).to.deep.equal([])
    expect(tokens({})).to.deep.equal(['token', 'not-linearizable'])
    // A client sends the greatest one that it has.
    expect(tokens({ forgets: true }, 'a/1')).to.include('token')
  })

  it('What its owner released is free on a new primary within a second (guarantee 4)', () => {
    const released = (seen: readonly string[], change?: 'killed', call: Partial<Called> = {}) => {
      const one = written()
      const hold = one.acquires('a/1', call, { owners: ['a:1'] })
      one
        .key({ owners: ['a:1'] })
        .releases('a/1', hold)
        .key({})
      one.at(100).fault({ kind: 'failover', excuses: ['delay', 'loss'], rewinds: true, recovery: 3_000 })
      one.key({ owners: ['a:1'] })
      if (change) one.client('a', change)
      return one.at(1_000).key({ owners: seen }).at(3_000).ends().broken
    }
    expect(released(['a:1'])).to.include('held-again')
    expect(released([])).to.not.include('held-again')
    expect(released(['a:1'], 'killed')).to.not.include('held-again')
    // The field of a reader whose lease is over keeps no writer out.
    expect(released(['a:1'], undefined, { object: READ })).to.include('held-again')
    expect(released(['a:1'], undefined, { object: READ, lease: 3_000 })).to.include('held-again')
    expect(released(['a:1'], undefined, { object: READ, lease: 200 })).to.not.include('held-again')
  })

  it('A waiter does not sleep before a free lock for longer than its bound (guarantee 2)', () => {
    const waits = (free: number, fault = false) => {
      const one = written()
      one.key({ owners: ['o'] })
      const id = one.call('a/1')
      one.at(100).key({ owners: [] })
      if (fault) one.fault({ until: 100 + free, excuses: ['delay'] })
      one.at(100 + free).returned(id)
      return one.broken
    }
    expect(waits(100)).to.deep.equal([])
    expect(waits(1_000)).to.deep.equal(['asleep'])
    expect(waits(1_000, true)).to.deep.equal([])
  })

  it('A fault of the head of a fair queue also delays multi locks with that member', () => {
    const waits = (kind: ObjectKind) => {
      const members = [{ kind, name: 'x' } as const]
      const one = written(kind)
      one.key({ owners: ['o'], queue: ['b'] })
      const id = one.call('a/1', 'acquire', { object: { kind: 'multi', name: 'all', members } })
      one.fault({ clients: ['b'], recovery: 9_000, excuses: ['delay'] })
      one.at(100).key({ owners: [], queue: ['b'] })
      one.at(5_000).returned(id)
      return one.broken
    }
    expect(waits('fair')).to.deep.equal([])
    expect(waits('lock')).to.deep.equal(['asleep'])
  })

  it('Waiters of one process come in in their order (guarantee 3)', () => {
    const order = (swapped: boolean) => {
      const one = written()
      const [first, second] = [one.call('a/1'), one.call('a/2')]
      const [sooner, later] = swapped ? [second, first] : [first, second]
      one.returned(sooner).releases(swapped ? 'a/2' : 'a/1', sooner)
      one.returned(later)
      return one.broken
    }
    expect(order(false)).to.deep.equal([])
    expect(order(true)).to.deep.equal(['local-order'])
  })

  it('A place in the queue of a fair lock is neither lost nor passed (E1)', () => {
    const queued = (...queues: string[][]) => {
      const one = written('fair')
      const [first, second] = [one.call('a/1'), one.call('b/1')]
      let before: string[] = []
      for (const queue of queues) {
        one.key({ queue, owners: before.filter((owner) => !queue.includes(owner)).slice(0, 1) })
        before = queue
      }
      const answered = queues.at(-2)![0] === 'A' ? [second, first] : [first, second]
      one.returned(answered[1]!, { owners: [answered[1] === first ? 'A' : 'B'] })
      one.releases(answered[1] === first ? 'a/1' : 'b/1', answered[1]!)
      one.returned(answered[0]!, { owners: [answered[0] === first ? 'A' : 'B'] })
      return one.broken
    }
    expect(queued(['A'], ['A', 'B'], ['B'], [])).to.deep.equal([])
    expect(queued(['A'], ['A', 'B'], ['A'], [])).to.deep.equal(['fair-order'])
    const lost = written('fair')
    const id = lost.call('a/1')
    lost
      .key({ queue: ['A'] })
      .key({ queue: [] })
      .key({ queue: ['A'] })
      .key({ owners: ['A'] })
    lost.returned(id, { owners: ['A'] })
    expect(lost.broken).to.deep.equal(['lost-place'])
  })

  it('No more permits are in use than there are (S1)', () => {
    const used = (units: number) => {
      const one = written('semaphore')
      one.returned(one.call('m/1', 'set', { units: 3 }))
      one.acquires('a/1', { units: 2 })
      one.acquires('b/1', { units })
      return one.broken
    }
    expect(used(1)).to.deep.equal([])
    expect(used(2)).to.include('permits')
  })

  it('A permit of an expirable semaphore is free or out (P1)', () => {
    const counted = (value: number) => {
      const one = written('permits')
      one.returned(one.call('m/1', 'set', { units: 3 }))
      return one.key({ value, owners: ['p1'] }).broken
    }
    expect(counted(2)).to.deep.equal([])
    expect(counted(3)).to.deep.equal(['permits'])
  })

  it('A hold is told before its lease ends on the server (guarantee 5)', () => {
    const expires = (toldAt: number) => {
      const one = written()
      const hold = one.acquires('a/1', { lease: 50 }, { owners: ['A'] })
      one.key({ owners: ['A'] })
      if (toldAt < 60) one.at(toldAt).told(hold, 'lease')
      one.at(60).key({ expired: true })
      if (toldAt > 60) one.at(toldAt).told(hold, 'lease')
      return one.broken
    }
    expect(expires(50)).to.deep.equal([])
    expect(expires(70)).to.deep.equal(['noticed-late'])
  })

  it('Every call is answered, and fails by a fault only (guarantee 8)', () => {
    const silent = written()
    silent.call('a/1')
    expect(silent.ends().broken).to.deep.equal(['unanswered'])
    const fails = (error: string, excused = false) => {
      const one = written()
      if (excused) one.fault({ until: 100, excuses: ['errors'] })
      return one.failed(one.call('a/1'), error).broken
    }
    expect(fails('LOCK_TIMEOUT')).to.deep.equal([])
    expect(fails('REDIS_UNAVAILABLE', true)).to.deep.equal([])
    expect(fails('REDIS_UNAVAILABLE')).to.deep.equal(['unexpected-error'])
    expect(fails('TypeError', true)).to.deep.equal(['unexpected-error'])
  })

  it('A job that runs once does not begin again before its time is over (R1)', () => {
    const again = (at: number) => {
      const one = written('run-once')
      one.releases('a/1', one.at(1).acquires('a/1', { lease: 100 }))
      one.at(at).acquires('b/1', { lease: 100 })
      return one.broken
    }
    expect(again(103)).to.deep.equal([])
    expect(again(50)).to.deep.equal(['run-again'])
  })

  it('Nothing is left at the end (guarantee 7)', () => {
    expect(written().ends().broken).to.deep.equal([])
    expect(written('semaphore').ends([{ key: 'x', ttl: -1 }]).broken).to.deep.equal([])
    expect(written().ends([{ key: 'x', ttl: 3_000 }]).broken).to.deep.equal(['left-over'])
    expect(written().ends([], { waiters: 1 }).broken).to.deep.equal(['left-over'])
  })

  it('A latch that opens too early has no explanation (L1)', () => {
    const opened = (downs: number) => {
      const one = written('latch')
      one.returned(one.call('m/1', 'set', { units: 2 }))
      for (let i = 0; i < downs; i++) one.returned(one.call('m/1', 'count-down'))
      return one.returned(one.call('a/1', 'await')).broken
    }
    expect(opened(2)).to.deep.equal([])
    expect(opened(1)).to.deep.equal(['not-linearizable'])
  })
})
