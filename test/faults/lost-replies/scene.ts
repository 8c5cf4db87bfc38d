import type { Redisson, RFencedLock, RLock } from '../../../src/index'
import { lockChannel } from '../../../src/locks/hash-lock-kind'
import { readWriteLockChannel } from '../../../src/locks/read-write-side'
import { prefixed } from '../../../src/scripts/key-names'
import { waitUntil } from '../../kit/servers/index'
import type { Setting } from './setting'

export type Kind = 'lock' | 'fair-lock' | 'fenced-lock' | 'read-lock' | 'write-lock'

/** The kinds that have scripts of their own for everything. */
export type FullKind = Exclude<Kind, 'fair-lock' | 'fenced-lock'>

/** It is one lock, and no side of two. */
export const isWhole = (kind: Kind) => kind === 'lock' || kind === 'fair-lock' || kind === 'fenced-lock'

/** What a case has at hand: one lock, the client under test behind the lossy link, and a peer beside it. */
export class Scene {
  readonly messages: string[] = []
  readonly lost: string[] = []
  readonly channel: string
  /** The lock of the case, as the client under test has it. */
  readonly lock: RLock
  /** The same lock, of the peer. */
  readonly theirs: RLock
  private readonly waiters: Promise<void>[] = []
  entered = 0
  private threads = 100

  constructor(
    readonly setting: Setting,
    readonly kind: Kind,
    readonly us: Redisson,
    readonly name: string,
  ) {
    this.channel = isWhole(kind) ? lockChannel(name) : readWriteLockChannel(name)
    this.lock = side(us, kind, name)
    this.theirs = side(setting.peer, kind, name)
    us.on('lockLost', ({ reason }) => this.lost.push(reason))
  }

  /** What of the peer's excludes the lock of the case, and is excluded by it. */
  get rival(): RLock {
    return this.kind === 'read-lock' ? this.theirWrite : this.theirs
  }

  /** The same of the client under test, as other threads have it. */
  get ownRival(): RLock {
    return this.kind === 'read-lock' ? this.write : this.lock
  }

  /** The same lock with its tokens. */
  get fenced(): RFencedLock {
    return this.us.getFencedLock(this.name)
  }

  /** The two sides, of the client under test and of the peer. */
  get read(): RLock {
    return this.us.getReadWriteLock(this.name).readLock()
  }
  get write(): RLock {
    return this.us.getReadWriteLock(this.name).writeLock()
  }
  get theirRead(): RLock {
    return this.setting.peer.getReadWriteLock(this.name).readLock()
  }
  get theirWrite(): RLock {
    return this.setting.peer.getReadWriteLock(this.name).writeLock()
  }

  /** Two threads, of the peer unless the lock is our own, queue for it; each releases what it gets at once. */
  async othersWait(lock: RLock = this.rival): Promise<void> {
    for (let each = 0; each < 2; each++) {
      const who = { threadId: ++this.threads }
      const waiting = lock.lock(who).then(async () => {
        this.entered++
        await lock.unlock(who)
      })
      waiting.catch(() => {})
      this.waiters.push(waiting)
    }
    const { admin, isSharded } = this.setting
    // One of them is our own ear; before a fair lock each has a channel of its own.
    await waitUntil('they wait', async () => {
      if (this.kind === 'fair-lock')
        return (await admin.llen(prefixed('redisson_lock_queue', this.name))) >= 2
      const [, listeners] = (await (isSharded
        ? admin.pubsub('SHARDNUMSUB', this.channel)
        : admin.pubsub('NUMSUB', this.channel))) as [string, number]
      return Number(listeners) >= 2
    })
  }

  /** How many of those who waited have been inside; waits for all of them where they can be expected. */
  async letIn(expected: boolean): Promise<number> {
    if (expected) await Promise.race([Promise.all(this.waiters), after(10_000)])
    return this.entered
  }

  /** Resolves when every message published so far has been heard. */
  async heardAll(): Promise<void> {
    const { admin, isSharded } = this.setting
    const mark = 'heard'
    if (isSharded) await admin.spublish(this.channel, mark)
    else await admin.publish(this.channel, mark)
    await waitUntil('the messages are heard', () => this.messages.includes(mark))
    this.messages.splice(this.messages.indexOf(mark), 1)
  }

  /** Resolves when a loss has been reported. */
  async reported(): Promise<void> {
    await waitUntil('the loss is reported', () => this.lost.length > 0)
  }
}

function side(redisson: Redisson, kind: Kind, name: string): RLock {
  if (kind === 'lock') return redisson.getLock(name)
  if (kind === 'fenced-lock') return redisson.getFencedLock(name)
  if (kind === 'fair-lock') return redisson.getFairLock(name)
  const lock = redisson.getReadWriteLock(name)
  return kind === 'read-lock' ? lock.readLock() : lock.writeLock()
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}
