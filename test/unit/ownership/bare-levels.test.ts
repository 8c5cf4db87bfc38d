import { expect } from 'chai'
import { BareLevels, HoldTable } from '../../../src/ownership/hold-table'
import type { OwnedHold, OwnedLevel } from '../../../src/ownership/owned-hold'

const NO_HOLD: OwnedHold = {
  objectId: '',
  holder: '',
  levels: new Set(),
  checkLive: () => true,
  countLevels: async () => 0,
}

interface TestLevel extends OwnedLevel {
  timeLeft: number
}

describe('The levels that lock() and tryLock() of one caller acquired', () => {
  const levelOf = (timeLeft = Number.POSITIVE_INFINITY): TestLevel => ({
    hold: NO_HOLD,
    thread: undefined,
    bareIn: undefined,
    timeLeft,
    checkLive() {
      if (this.timeLeft <= 0) this.bareIn?.ended(this)
      return this.timeLeft > 0
    },
  })

  const add = (levels: BareLevels<TestLevel>, ...added: TestLevel[]) => {
    for (const level of added) {
      levels.begin()
      level.bareIn = levels
      levels.end(level)
    }
  }

  const takenBy = (how: 'newestFirst' | 'owedFirst', levels: BareLevels<TestLevel>, times: number) =>
    Array.from({ length: times }, () => {
      const found = levels[how]()
      if (found?.level) levels.unlocked(found.level)
      else if (found) levels.settleOwed()
      return found?.level ?? (found ? 'owed' : 'nothing')
    })

  it('Levels that have ended are not kept, and each of them owes one unlock() (V96)', () => {
    const levels = new BareLevels<TestLevel>()
    const all = Array.from({ length: 1_000 }, () => levelOf())
    add(levels, ...all)
    for (const each of all.slice(0, 500)) levels.ended(each)
    for (const each of all.slice(0, 500)) levels.ended(each)
    expect(all.filter(({ bareIn }) => bareIn)).to.deep.equal(all.slice(500))
    for (const each of all) each.timeLeft = 0
    expect(takenBy('owedFirst', levels, 1_001)).to.deep.equal([...Array(1_000).fill('owed'), 'nothing'])
  })

  it('A level whose end is being told while another unlock() looks for one is asked once (V218)', () => {
    const levels = new BareLevels<TestLevel>()
    const [outer, inner] = [levelOf(), levelOf()]
    let asked = 0
    inner.checkLive = () => {
      if (++asked > 10) throw new Error('asked for ever')
      return false
    }
    add(levels, outer, inner)
    expect(levels.newestFirst()?.level).to.equal(inner)
    expect(asked).to.equal(1)
  })

  it('Without a thread, what is owed comes first, then the level whose time is over first', () => {
    const levels = new BareLevels<TestLevel>()
    const [endless, long, short, ended] = [levelOf(), levelOf(900), levelOf(100), levelOf(0)]
    add(levels, endless, long, short, ended)
    expect(takenBy('owedFirst', levels, 5)).to.deep.equal(['owed', short, long, endless, 'nothing'])
  })

  it('A thread ends its newest level that is held, and then what it owes', () => {
    const levels = new BareLevels<TestLevel>()
    const [first, second, ended] = [levelOf(), levelOf(), levelOf()]
    add(levels, first, ended, second)
    levels.ended(ended)
    expect(takenBy('newestFirst', levels, 4)).to.deep.equal([second, first, 'owed', 'nothing'])
  })

  it('A thread ends the older of two levels where the newest has ended unnoticed', () => {
    const levels = new BareLevels<TestLevel>()
    const [older, newest] = [levelOf(), levelOf(0)]
    add(levels, older, newest)
    expect(takenBy('newestFirst', levels, 3)).to.deep.equal([older, 'owed', 'nothing'])
  })

  it('A listener that calls unlock() while a loss is noticed ends another level than the caller', () => {
    const levels = new BareLevels<TestLevel>()
    const [first, second] = [levelOf(50), levelOf(60)]
    let byListener: unknown
    const lost: TestLevel = {
      ...levelOf(0),
      checkLive() {
        if (byListener !== undefined) return false
        levels.ended(lost)
        ;[byListener] = takenBy('owedFirst', levels, 1)
        return false
      },
    }
    add(levels, first, lost, second)
    expect([byListener, ...takenBy('owedFirst', levels, 3)]).to.deep.equal([
      undefined,
      first,
      second,
      'nothing',
    ])
    expect(byListener).to.equal('owed')
  })

  it('A level that ends between its grant and its lock() is owed once, and ends no other level', () => {
    const levels = new BareLevels<TestLevel>()
    const [first, lost, ended] = [levelOf(), levelOf(), levelOf()]
    add(levels, first)
    for (const [level, end] of [
      [lost, () => levels.ended(lost, 'loss')],
      // By the `unlock()` of an ancestor, after the thread of the level has ended.
      [ended, () => levels.unlocked(ended)],
    ] as const) {
      levels.begin()
      level.bareIn = levels
      end()
      levels.end(level)
    }
    expect(levels.loss).to.equal('loss')
    expect(takenBy('newestFirst', levels, 3)).to.deep.equal([first, 'owed', 'nothing'])
    expect(levels.loss).to.equal(undefined)
  })

  it('A table drops an entry whose only level was ended before its lock() resolved', () => {
    const table = new HoldTable<TestLevel>()
    const [entry, level] = [table.getOrCreate('a lock'), levelOf()]
    entry.bare.begin()
    level.bareIn = entry.bare
    entry.bare.unlocked(level)
    expect(table.get('a lock')).to.equal(entry)
    entry.bare.end(level)
    expect(table.get('a lock')).to.equal(undefined)
  })

  it('A table keeps a bounded number of entries that only owe', () => {
    const table = new HoldTable<TestLevel>()
    const entries = Array.from({ length: 10_002 }, (_, at) => {
      const entry = table.getOrCreate(String(at))
      const level = levelOf()
      add(entry.bare, level)
      entry.bare.ended(level)
      entry.somethingEnded()
      return entry
    })
    expect(entries.filter((entry, at) => table.get(String(at)) === entry)).to.have.lengthOf(10_000)
    expect(table.get('1')).to.equal(undefined)
  })
})
