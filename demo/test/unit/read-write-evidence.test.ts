import { expect } from 'chai'
import { Evidence } from '../../evidence'
import { faultsOf, readersTogether } from '../../read-write/verdict'

const LOCK = 'doc'
const LOG = 'doc:log'
const PROCESSES = new Map([
  ['client-1', 'node-1'],
  ['client-2', 'node-2'],
  ['client-j', 'java'],
])
const CLIENTS = new Map([...PROCESSES].map(([client, who]) => [who, client]))

describe("The demo's evidence of a read-write lock", () => {
  let evidence: Evidence
  let time: number
  let logged: number

  beforeEach(() => {
    evidence = new Evidence({ lock: LOCK, counter: 'doc:counter', log: LOG }, PROCESSES)
    time = 0
    logged = 0
  })

  it('Evidence of a read-write lock finds nothing wrong with readers together and writers alone', () => {
    goodRun()
    expect(faults(2)).to.deep.equal([])
    expect(evidence).to.include({ grants: 7, overlaps: 0 })
    expect(readersTogether(evidence.sections)).to.deep.equal({
      most: 4,
      inOneProcess: 1,
      inTwoNodeProcesses: 2,
      inNodeAndJava: 3,
    })
  })

  it('Evidence of a read-write lock reports a writer with company, in either order', () => {
    take('node-1', 'write', 1)
    begin('node-1', 'write', 1)
    take('java', 'read', 2)
    begin('java', 'read', 2)
    end('node-1', 'write', 1)
    give('node-1', 'write', 1)
    take('node-2', 'write', 3)
    begin('node-2', 'write', 3)
    end('java', 'read', 2)
    end('node-2', 'write', 3)
    expect(faults(2)).to.include.members([
      '2 of 3 turns overlapped another, and one of the two wrote',
      'the lock was granted 2 times beside another owner, and one of the two wrote',
    ])
    expect(evidence.sections.map(({ overlaps }) => overlaps)).to.deep.equal([true, true, true])
  })

  it('Evidence of a read-write lock reports torn reads', () => {
    turn('java', 'read', 1, { first: '7', second: '7' })
    turn('node-1', 'read', 2, { first: '7', second: '6' })
    expect(faults(0)).to.include('1 reads were torn')
  })

  it("Evidence of a read-write lock reports turns on another's hold, or on none", () => {
    take('node-1', 'write', 1)
    begin('node-1', 'read', 1)
    end('node-1', 'read', 1)
    give('node-1', 'write', 1)
    take('node-1', 'read', 2)
    begin('node-1', 'read', 3)
    end('node-1', 'read', 3)
    give('node-1', 'read', 2)
    begin('java', 'read', 4)
    end('java', 'read', 4)
    expect(faults(0)).to.include('a turn was not covered by a hold of its own 3 times')
  })

  it('Evidence of a read-write lock reports a hold that ends before its turn, once', () => {
    take('node-1', 'read', 1)
    take('node-1', 'read', 2)
    begin('node-1', 'read', 1)
    command('hincrby', 'client-1:1', '-1')
    command('hdel', 'client-1:1')
    end('node-1', 'read', 1)
    expect(faults(0)).to.include('a turn was not covered by a hold of its own 1 times')
  })

  it('Evidence of a read-write lock reports lost updates and a record that ends in two minds', () => {
    goodRun()
    expect(faults(1)).to.deep.equal(['1 updates of the record were lost'])
    expect(faults(2, 1)).to.deep.equal(['the record ends as 2 and 1'])
  })

  it('Evidence of a read-write lock reports what a run did not show', () => {
    expect(faults(0)).to.include.members([
      'no caller ever took the lock',
      'Node never wrote',
      'Java never read',
    ])
    turn('node-1', 'read', 1)
    turn('java', 'write', 2)
    expect(faults(1)).to.deep.equal([
      'Node never wrote',
      'Java never read',
      'no readers of two Node processes overlapped',
      'no readers of Node and Java overlapped',
    ])
  })

  it('Evidence of a read-write lock reports log entries that its record misses', () => {
    goodRun()
    logged += 2
    expect(faults(2)).to.deep.equal(['the record misses 2 entries of the log'])
  })

  function goodRun(): void {
    turn('node-1', 'write', 1)
    const readers = [
      ['node-1', 2],
      ['node-1', 3],
      ['node-2', 4],
      ['java', 5],
    ] as const
    for (const [who, thread] of readers) take(who, 'read', thread)
    for (const [who, thread] of readers) begin(who, 'read', thread)
    for (const [who, thread] of readers) {
      end(who, 'read', thread)
      give(who, 'read', thread)
    }
    turn('java', 'write', 6)
    turn('node-2', 'read', 7)
  }

  function turn(who: string, side: 'read' | 'write', thread: number, found = {}): void {
    take(who, side, thread)
    begin(who, side, thread)
    end(who, side, thread, found)
    give(who, side, thread)
  }

  /** As the scripts do: ours set the mode and the owner at once where the lock is free, Java's one by one. */
  function take(who: string, side: 'read' | 'write', thread: number): void {
    const owner = ownerOf(who, side, thread)
    if (who === 'java') {
      command('hset', 'mode', side)
      command('hset', owner, '1')
    } else if (side === 'write') command('hset', 'mode', side, owner, '1')
    else {
      command('hset', 'mode', side)
      command('hincrby', owner, '1')
    }
  }

  function give(who: string, side: 'read' | 'write', thread: number): void {
    if (who === 'java') command('hincrby', ownerOf(who, side, thread), '-1')
    command('hdel', ownerOf(who, side, thread))
  }

  function begin(who: string, side: string, thread: number): void {
    log(who, side, thread, { event: 'acquired' })
  }

  function end(who: string, side: string, thread: number, found = {}): void {
    log(who, side, thread, { event: 'released', ...found })
  }

  function log(who: string, type: string, thread: number, more: Record<string, string>): void {
    const entry = { who, thread: `t${thread}`, threadId: String(thread), type, waitMs: '1', ...more }
    evidence.add({ at: ++time, args: ['xadd', LOG, '*', ...Object.entries(entry).flat()] })
    logged++
  }

  function command(name: string, ...rest: string[]): void {
    evidence.add({ at: ++time, args: [name, LOCK, ...rest] })
  }

  function ownerOf(who: string, side: 'read' | 'write', thread: number): string {
    return `${CLIENTS.get(who)}:${thread}${side === 'write' ? ':write' : ''}`
  }

  function faults(counter: number, twin = counter): string[] {
    return faultsOf(evidence, { counter, twin, logLength: logged, withJava: true })
  }
})
