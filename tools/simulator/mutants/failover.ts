import type { Mutant } from './mutant'

/** Edits of what a failover needs. */
export const FAILOVER: readonly Mutant[] = [
  {
    ...{ name: 'releases-not-again', row: 'guarantee 4', scenes: ['plain'] },
    file: 'src/leases/recent-releases.ts',
    what: 'a release that a failover lost is not sent to the new primary',
    find: 'this.orphans.releaseNow(release.orphan, release.answered)',
    replace: 'void release',
  },
  {
    ...{ name: 'lone-primary-believed', row: 'guarantee 1', scenes: ['plain'] },
    file: 'src/redis/replica-ack/replica-count.ts',
    what: 'a primary whose replica has just been promoted grants alone',
    find: 'return this.lostReplica !== undefined && this.isStrict',
    replace: 'return false',
  },
  {
    ...{ name: 'token-seen-kept-back', row: 'guarantee 4', scenes: ['fenced'] },
    file: 'src/locks/fenced-lock.ts',
    what: 'a client does not send the greatest token that it saw',
    find: '[owner, lease, this.seen], true',
    replace: '[owner, lease, 0], true',
  },
]
