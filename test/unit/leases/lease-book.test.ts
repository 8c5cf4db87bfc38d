import { expect } from 'chai'
import { LeaseBook } from '../../../src/leases/lease-book'
import { VirtualClock } from '../../kit/virtual-clock'

describe('The book of a lease', () => {
  it('A shorter lease that was not set is taken back: deadline, renewals and replicas', () => {
    const clock = new VirtualClock()
    const book = new LeaseBook(clock, clock.now(), 30_000)
    clock.advance(100)
    const renewed = clock.now()
    clock.advance(100)
    const takeBack = book.mayShorten(clock.now(), 1_000)
    expect(book.remaining()).to.equal(900)
    takeBack()
    expect(book.remaining()).to.equal(28_800)
    expect(book.countFromReplica(), 'a replica has the lease of before').to.equal(false)
    book.extend(renewed, 30_000)
    expect(book.remaining(), 'a renewal that was sent before').to.equal(28_900)
  })

  it('A shorter lease that was set since is not taken back', () => {
    const clock = new VirtualClock()
    const book = new LeaseBook(clock, clock.now(), 30_000)
    const takeBack = book.mayShorten(clock.now(), 1_000)
    clock.advance(100)
    book.mayShorten(clock.now(), 500)
    takeBack()
    expect(book.remaining()).to.equal(450)
  })
})
