import type { LockHold, Redisson } from '../../../../src/index'
import type { ScriptTransport } from '../../../../src/scripts/transport'
import { type Tap, tapped } from '../../../kit/tapped-transport'
import type { Side } from '../evidence/records'
import type { LockKind, LockPlan } from '../plan/objects'
import type { EvidenceWriter } from './evidence-writer'

/** What a caller needs of a lock of any kind. */
export interface AnyLock {
  acquire(options?: { leaseTime?: number; signal?: AbortSignal }): Promise<LockHold>
  tryAcquire(options?: { waitTime?: number; leaseTime?: number }): Promise<LockHold | undefined>
}

const REFUSE_REENTRY: readonly LockKind[] = ['nonReentrant', 'nonReentrantFair', 'token']

export const refusesReentry = ({ kind }: LockPlan): boolean => REFUSE_REENTRY.includes(kind)

export function lockOf(redisson: Redisson, { name, kind }: LockPlan, side: Side): AnyLock {
  switch (kind) {
    case 'lock':
      return redisson.getLock(name)
    case 'readWrite':
      return side === 'r'
        ? redisson.getReadWriteLock(name).readLock()
        : redisson.getReadWriteLock(name).writeLock()
    case 'fair':
      return redisson.getFairLock(name)
    case 'nonReentrantFair':
      return redisson.getNonReentrantFairLock(name)
    case 'fenced':
      return redisson.getFencedLock(name)
    case 'nonReentrant':
      return redisson.getNonReentrantLock(name)
    case 'spin':
      return redisson.getSpinLock(name)
    case 'token':
      return redisson.getTokenLock(name)
  }
}

/** What only the scripts of a client show: whose a token is, and when an owner is known to be in the queue of a fair lock. */
export function tellOwners(evidence: EvidenceWriter): (transport: ScriptTransport) => ScriptTransport {
  const placed = new Set<string>()
  const tell = (event: 'place' | 'owner', lock: string, owner: string) =>
    evidence.note(event, { caller: '', lock, side: 'x', turn: 0, lease: undefined, owner })

  const inFairQueue = (lock: string, owner: string, answer: unknown) => {
    // { 1, ms }: in the queue (lua/fair-lock/acquire.lua).
    if (!Array.isArray(answer)) return void placed.delete(owner)
    if (answer[0] !== 1 || placed.has(owner)) return
    placed.add(owner)
    void tell('place', lock, owner)
  }
  const tap: Tap = ({ name, keys, args, pass }) => {
    if (name === 'token-lock/acquire') void tell('owner', keys[0]!, String(args[0]))
    if (name === 'token-lock/handoff') void tell('owner', keys[0]!, String(args[1]))
    const answer = pass()
    if (name === 'fair-lock/acquire')
      answer.then(
        (value) => inFairQueue(keys[0]!, String(args[0]), value),
        () => {},
      )
    if (name === 'fair-lock/leave') placed.delete(String(args[0]))
    return answer
  }
  return tapped(tap)
}
