import { expect } from 'chai'
import { OrphanReleaser } from '../../../src/leases/orphan-releaser'
import { RecentReleases } from '../../../src/leases/recent-releases'
import { VirtualClock } from '../../kit/virtual-clock'

describe('Releases that a replica may lack', () => {
  it('A wall clock that is set forward ends none of them early', () => {
    const clock = new VirtualClock()
    let [sent, primary] = [0, 'first']
    const replication = { primaryOf: () => primary, mayLack: () => true, askReplicas() {} }
    const releases = new RecentReleases(clock, new OrphanReleaser(clock), replication)
    const release = async () => void sent++
    releases.sending('one')!({ lease: 30_000, release })
    clock.jump(120_000)
    clock.advance(100)
    primary = 'second'
    clock.advance(100)
    expect(sent).to.equal(1)
  })

  it('After a failover those are sent again that no replica had confirmed (guarantee 4)', () => {
    const clock = new VirtualClock()
    const sent: string[] = []
    let primary = 'first'
    const replication = { primaryOf: () => primary, mayLack: () => true, askReplicas() {} }
    const releases = new RecentReleases(clock, new OrphanReleaser(clock), replication)
    const answered = (key: string) => {
      const release = async () => {
        sent.push(key)
      }
      releases.sending(key)!({ lease: 30_000, release })
      clock.advance(1)
    }
    answered('one')
    answered('two')
    const confirmed = clock.now()
    answered('three')
    answered('four')
    releases.replicated('first', confirmed)
    primary = 'second'
    clock.advance(100)
    expect(sent).to.deep.equal(['three', 'four'])
  })
})
