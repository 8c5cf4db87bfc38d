import type { Mutant } from './mutant'

const PLAIN = ['plain']
const SHARED = ['shared-object']
const LIMITED = ['limited']

/** Edits of the sources. */
export const SOURCES: readonly Mutant[] = [
  {
    ...{ name: 'give-up-forgotten', row: 'A8', scenes: PLAIN, file: 'src/leases/orphan-releaser.ts' },
    what: 'an acquisition given up while it is under way is not released when it is granted',
    find: 'if (acquiredNothing) return resolve()',
    replace: 'return resolve()',
  },
  {
    ...{ name: 'loss-unnoticed', row: 'B10', scenes: PLAIN, file: 'src/leases/lease-book.ts' },
    what: 'a hold does not look at its deadline',
    find: 'return this.remaining() <= 0',
    replace: 'return false',
  },
  {
    ...{ name: 'deaf-after-reconnect', row: 'A5', scenes: PLAIN, file: 'src/redis/listen/subscriber.ts' },
    what: 'a broken subscription is taken for a live one',
    find: "redis.on('close', () => this.forget('idle'))",
    replace: '',
  },
  {
    ...{ name: 'wake-up-lost', row: 'A2', scenes: PLAIN, file: 'src/waiting/wait-queue.ts' },
    what: 'a message wakes no waiter',
    find: 'if (this.isResting) this.tryInTurn()',
    replace: '',
  },
  {
    ...{ name: 'expiry-not-told', row: 'B11', scenes: PLAIN, file: 'src/leases/watchdog.ts' },
    what: 'the end of an explicit lease is not told',
    find: 'else this.lose(lease, lease.book.deadlineReason)',
    replace: 'else this.deadlines.delete(lease)',
  },
  {
    ...{
      name: 'last-come-first-served',
      row: 'guarantee 3',
      scenes: PLAIN,
      file: 'src/waiting/wait-queue.ts',
    },
    what: 'the last waiter of a process is served first',
    find: 'const { first } = this\n',
    replace: 'const first = [...this].at(-1)\n',
  },
  {
    ...{
      name: 'overtakes-a-large-request',
      row: 'guarantee 3',
      scenes: ['semaphore'],
      file: 'src/synchronizers/base-permits-attempt.ts',
    },
    what: 'waiters ask for more permits together than are free',
    find: 'if (permits > free && waiter !== waiters.first) return',
    replace: '',
  },
  {
    ...{
      name: 'late-unlock-of-a-branch',
      row: 'V112',
      scenes: ['branches'],
      file: 'src/ownership/hold-table.ts',
    },
    what: 'the late unlock() of a branch releases what its parent has acquired since',
    find: 'return level || this.owed > 0 ? { among: this, level } : undefined',
    replace: 'return level && { among: this, level }',
  },
  {
    ...{ name: 'loss-without-a-cause', row: 'guarantee 5', scenes: PLAIN, file: 'src/leases/watchdog.ts' },
    what: 'a hold is told as lost although its renewal was answered',
    find: 'if (!leaseEnd && this.isAwaited(entry))',
    replace: 'if (leaseEnd ? leaseEnd % 3 === 0 : this.isAwaited(entry))',
  },
  {
    ...{ name: 'limit-not-kept', row: 'guarantee 5', scenes: LIMITED, file: 'src/leases/lease-book.ts' },
    what: 'a hold is renewed beyond its maxHoldTime',
    find: 'if (maxHoldTime !== undefined) this.limit =',
    replace: 'if (maxHoldTime === 0) this.limit =',
  },
  {
    ...{
      name: 'renewal-past-the-limit',
      row: 'guarantee 5',
      scenes: LIMITED,
      file: 'src/leases/lease-book.ts',
    },
    what: 'a renewal asks for a lease that ends after the maxHoldTime',
    find: 'return this.limit ? Math.min(lasts, Math.max(1, Math.floor(this.left(this.limit)))) : lasts',
    replace: 'return lasts',
  },
  {
    ...{ name: 'grant-ends-nothing', row: 'V133', scenes: SHARED, file: 'src/leases/lease-monitor.ts' },
    what: 'a grant does not end what its client had before the key was deleted',
    find: 'if (!lease.leased.shared) this.endEarlier(lease)',
    replace: '',
  },
  {
    ...{ name: 'grant-ends-readers', row: 'guarantee 5', scenes: ['read-write'] },
    file: 'src/leases/lease-monitor.ts',
    what: 'a grant of a reader ends the other readers of its client',
    find: 'if (!lease.leased.shared) this.endEarlier(lease)',
    replace: 'this.endEarlier(lease)',
  },
  {
    ...{ name: 'quorum-too-small', row: 'M9', scenes: ['red'], file: 'src/locks/red-lock.ts' },
    what: 'two of five members are a quorum',
    find: 'Math.floor(members.length / 2) + 1',
    replace: 'Math.floor(members.length / 2)',
  },
  {
    ...{ name: 'all-but-one', row: 'M2', scenes: ['multi'], file: 'src/locks/multi-lock.ts' },
    what: 'a multi lock is held without one of its members',
    find: "'MultiLock', members.length, acquireMembers)",
    replace: "'MultiLock', members.length - 1, acquireMembers)",
  },
  {
    ...{ name: 'members-kept', row: 'M2', scenes: ['multi', 'red'], file: 'src/multi/members-call.ts' },
    what: 'a round that acquired too few members keeps them',
    find: 'await members.release()',
    replace: '',
  },
  {
    ...{ name: 'latch-for-later-callers', row: 'V183', scenes: ['latch'] },
    file: 'src/synchronizers/count-down-latch.ts',
    what: 'a look that found a latch open also lets callers go that came after it was sent',
    find: 'if (waiter.joined.monotonic <= sent.monotonic) waiter.grant(undefined)',
    replace: 'waiter.grant(sent && undefined)',
  },
  {
    ...{ name: 'members-lost-in-a-pause', row: 'M6', scenes: ['multi', 'red'] },
    file: 'src/multi/granted-members.ts',
    what: 'a multi lock counts members whose leases ended before the last one answered',
    find: 'grants.filter(({ hold }) => hold.isHeld).length >= group.needed',
    replace: 'grants.length >= group.needed',
  },
]
