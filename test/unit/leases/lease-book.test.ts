import { expect } from 'chai'
import { LeaseBook } from '../../../src/leases/lease-book'
import { VirtualClock } from '../../kit/virtual-clock'

describe('The book of a lease', () => {
  it('A command that may shorten a lease counts at once, here and for a failover', () => {
    const clock = new VirtualClock()
    const book = new LeaseBook(clock, clock.now(), 30_000)
    clock.advance(200)
    book.mayShorten(clock.now(), 1_000)
    expect(book.remaining()).to.equal(900)
    book.partlyReleased(clock.now(), 30_000, 0)
    expect(book.fallBackToReplica(), 'the replica may have the shorter lease').to.equal(true)
    expect(book.remaining()).to.equal(900)
  })

  it('A renewal that was sent before the lease was shortened makes it no longer', () => {
    const clock = new VirtualClock()
    const book = new LeaseBook(clock, clock.now(), 10_000)
    clock.advance(1_000)
    const renewed = clock.now()
    clock.advance(1_000)
    // It ends later than the first lease does.
    book.mayShorten(clock.now(), 9_000)
    book.renewed(renewed, 30_000, 0, false)
    expect(book.remaining()).to.equal(7_000)
    book.renewed(clock.now(), 30_000, 0, false)
    expect(book.remaining()).to.equal(29_000)
  })
})
