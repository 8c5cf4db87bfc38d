import { setTimeout as sleep } from 'node:timers/promises'
import {
  dumpKeyspace,
  inSteps,
  isReadTimeoutKey,
  type KeyDump,
  type PublishedMessages,
  withoutIds,
} from './keyspace'
import { type LockThread, type Side, type Sides, saysNotHeld, type WaitOptions } from './lock-peer'
import type { World } from './world'

type Call = Exclude<keyof LockThread, 'getName'>

/** One call by one of two threads. */
export type Step = readonly [who: Who, call: Call, options?: StepOptions] | readonly ['sleep', ms: number]

interface StepOptions extends WaitOptions {
  /** Goes on without the answer. */
  starts?: boolean
  /** Waits for what was started before: a dump in between would depend on who is faster. */
  ends?: boolean
  /** A message that only ours publishes here, and must; docs/reference/java-parity.md says why. */
  onlyNodeTells?: string
  /** A forced release: Java leaves the read timeout keys of those it ended to their time to live, ours deletes them. */
  onlyJavaLeavesReadTimeouts?: boolean
}

type Who = 'a' | 'b'

/** Which side each of the two threads is on. */
export type Casting = Record<Who, Side>

export interface StepRecord {
  readonly step: string
  readonly answer: unknown
  readonly keys: readonly KeyDump[]
  readonly published: readonly (readonly [channel: string, message: string])[]
}

let runs = 0

/** Does the calls on one lock and records after each what it answered, what is in Redis and what was published. */
export async function perform(
  world: World,
  messages: PublishedMessages,
  lock: string,
  steps: readonly Step[],
  casting: Casting,
): Promise<StepRecord[]> {
  await world.redis.flushdb()
  await messages.take()
  const run = new Run(world, lock, casting)
  const records: StepRecord[] = []
  for (const step of steps) {
    const answer = await run.do(step)
    const options = stepOptions(step)
    const keys = await dumpKeyspace(world.redis, world)
    const published = withoutIds(await messages.take(), world)
    if (step[0] !== 'sleep' && casting[step[0]] === 'Node')
      takeWhatOnlyNodeTells(published, options.onlyNodeTells)
    if (options.onlyJavaLeavesReadTimeouts) await deleteClocks(world)
    records.push({
      step: [...step.filter((part) => typeof part !== 'object'), options.type].join(' '),
      answer,
      keys: options.onlyJavaLeavesReadTimeouts ? keys.filter((each) => !isReadTimeoutKey(each)) : keys,
      published,
    })
  }
  return records
}

class Run {
  // Threads and lock objects of its own: Java keeps the last lease on the object, ours a lost hold on the thread.
  private readonly id = `run ${++runs}`
  private started: Promise<unknown> = Promise.resolve()

  constructor(
    private readonly sides: Sides,
    private readonly lock: string,
    private readonly casting: Casting,
  ) {}

  async do(step: Step): Promise<unknown> {
    if (step[0] === 'sleep') return await sleep(step[1])
    const [who, call] = step
    const { starts = false, ends = false, type, waitTime, leaseTime } = stepOptions(step)
    const own = `${this.id} ${who}`
    const thread: LockThread = this.sides[this.casting[who]].thread(own)
    const answer = inWords(call, thread[call](this.lock, { type, waitTime, leaseTime, object: own }))
    if (ends) return await Promise.all([answer, this.started])
    if (!starts) return await answer
    this.started = answer
    // Nothing is lost should it not be in the queue by then; only the subscription would go untested.
    await sleep(70)
    return 'started'
  }
}

/** The answer as it can be compared: the sides time themselves, name their errors and count their ms differently. */
async function inWords(call: Call, answering: Promise<unknown>): Promise<unknown> {
  try {
    const answer = await answering
    if (call === 'remainTimeToLive') return (answer as number) < 0 ? answer : inSteps(answer as number)
    return call === 'lock' || call === 'unlock' ? 'done' : answer
  } catch (error) {
    if (saysNotHeld(error)) return 'not held'
    throw error
  }
}

function stepOptions(step: Step): StepOptions {
  return (step[0] === 'sleep' ? undefined : step[2]) ?? {}
}

/** It must be there, so that no reader believes a difference that is gone. */
function takeWhatOnlyNodeTells(published: [channel: string, message: string][], expected?: string): void {
  if (expected === undefined) return
  const at = published.findIndex(([, message]) => message === expected)
  if (at < 0) throw new Error(`ours did not publish ${expected}`)
  published.splice(at, 1)
}

/** The next steps shall find what they would find had those read timeout keys been deleted. */
async function deleteClocks(world: World): Promise<void> {
  const readTimeouts = await world.redis.keys('*:rwlock_timeout:*')
  if (readTimeouts.length > 0) await world.redis.del(readTimeouts)
}

/** Every transition of a lock's state. */
export const LOCK_SEQUENCES: Record<string, readonly Step[]> = {
  'lock, unlock': [
    ['a', 'lock'],
    ['b', 'isLocked'],
    ['b', 'remainTimeToLive'],
    ['a', 'unlock'],
    ['b', 'isLocked'],
    ['b', 'remainTimeToLive'],
  ],
  'lock twice, unlock three times': [
    ['a', 'lock'],
    ['a', 'lock'],
    ['a', 'getHoldCount'],
    ['b', 'getHoldCount'],
    ['a', 'unlock'],
    ['a', 'unlock'],
    ['a', 'unlock'],
  ],
  // 600 ms tell a lease that was set anew (10 s) from one that went on running (9 s).
  're-entry and partial release set the lease anew': [
    ['a', 'lock', { leaseTime: 10_000 }],
    ['sleep', 600],
    ['b', 'remainTimeToLive'],
    ['a', 'tryLock', { leaseTime: 10_000 }],
    ['sleep', 600],
    ['b', 'remainTimeToLive'],
    ['a', 'unlock'],
    ['a', 'unlock'],
  ],
  'tryLock with and without wait and lease': [
    ['a', 'tryLock'],
    ['b', 'tryLock'],
    ['b', 'tryLock', { waitTime: 80 }],
    ['a', 'tryLock', { waitTime: 80 }],
    ['a', 'unlock'],
    ['a', 'unlock'],
    ['b', 'tryLock', { waitTime: 80, leaseTime: 20_000 }],
    ['a', 'tryLock', { waitTime: 0, leaseTime: 5_000 }],
    ['b', 'unlock'],
  ],
  'forced release': [
    ['b', 'forceUnlock'],
    ['a', 'lock'],
    ['a', 'lock'],
    ['b', 'forceUnlock'],
    ['a', 'isHeldByCurrentThread'],
    ['b', 'forceUnlock'],
    ['a', 'unlock'],
    ['a', 'unlock'],
  ],
  "a stranger's unlock": [
    ['b', 'unlock'],
    ['a', 'lock', { leaseTime: 20_000 }],
    ['b', 'unlock'],
    ['b', 'isHeldByCurrentThread'],
    ['a', 'isHeldByCurrentThread'],
    ['a', 'unlock'],
  ],
  'handing off to one who waits': [
    ['a', 'lock', { leaseTime: 20_000 }],
    ['b', 'lock', { leaseTime: 10_000, starts: true }],
    ['a', 'getHoldCount'],
    ['a', 'unlock', { ends: true }],
    ['b', 'getHoldCount'],
    ['b', 'unlock'],
  ],
  'a lease that runs out': [
    ['a', 'lock', { leaseTime: 120 }],
    ['sleep', 250],
    ['b', 'isLocked'],
    ['a', 'isHeldByCurrentThread'],
    ['a', 'unlock'],
    ['b', 'tryLock'],
    ['b', 'unlock'],
  ],
}
