import type { Case } from './matrix'
import type { Kind } from './scene'
import { another, gone, rows, sleep, takenOver } from './steps'

/** A single try gives up after a second without an answer, which a busy machine may need for its reconnect. */
const PATIENCE = 5_000

/** Acquisitions by one who holds nothing of this lock yet. */
export function acquiring(kind: Kind): Case[] {
  const acquire = rows({ kind, script: `${kind}/acquire`, levels: 0 })
  return [
    acquire('free', { act: ({ lock }) => lock.lock(), levels: 1 }),
    acquire('free, with a lease', { act: ({ lock }) => lock.lock(20_000), levels: 1 }),
    acquire('free, tried for a while', { act: ({ lock }) => lock.tryLock(20_000), levels: 1 }),
    acquire('free, as a hold', { act: async ({ lock }) => (await lock.acquire()).isHeld }),
    acquire('free, in withLock', { act: ({ lock }) => lock.withLock(() => 'done') }),
    acquire(
      'held by another, tried for a while',
      { act: ({ lock }) => lock.tryLock(PATIENCE) },
      ({ rival }) => rival.lock(another),
    ),
    acquire(
      'held by another and without expiry, tried for a while',
      { act: ({ lock }) => lock.tryLock(PATIENCE) },
      async ({ rival, setting, name }) => {
        await rival.lock(another)
        await setting.admin.persist(name)
      },
    ),
    acquire(
      'held by another, who releases it then',
      { act: ({ lock }) => lock.lock(), afterwards: ({ rival }) => rival.unlock(another), levels: 1 },
      ({ rival }) => rival.lock(another),
    ),
    acquire(
      'held by another, whose lease runs out then',
      { messagesVary: true, act: ({ lock }) => lock.tryLock(10_000), levels: 1 },
      ({ rival }) => rival.lock({ ...another, leaseTime: 1_000 }),
    ),
    acquire(
      'held by another, who is forced out then',
      { act: ({ lock }) => lock.lock(), afterwards: gone, levels: 1 },
      ({ rival }) => rival.lock(another),
    ),
    acquire(
      'held by another, who has left before the copy',
      {
        act: ({ lock }) => lock.tryLock(10_000),
        meanwhile: ({ rival }) => rival.unlock(another),
        waitsForIt: true,
        levels: 1,
      },
      ({ rival }) => rival.lock(another),
    ),
    acquire(
      'held by another, others wait',
      { act: ({ lock }) => lock.lock(), afterwards: ({ rival }) => rival.unlock(another), levels: 1 },
      async (scene) => {
        await scene.rival.lock(another)
        await scene.othersWait(scene.rival)
      },
    ),
    acquire('free, taken by force and by another meanwhile, tried for a while', {
      act: ({ lock }) => lock.tryLock(PATIENCE),
      meanwhile: takenOver,
      unlike: {
        why: 'the copy meets the other: after "not acquired" the caller is spared the loss of what it had',
        outcome: {
          answer: { value: false },
          lost: [],
          ttl: 30_000 - PATIENCE,
          ttlAsked: { value: 30_000 - PATIENCE },
        },
      },
    }),
    acquire('free, ended by force meanwhile', {
      act: ({ lock }) => lock.lock(),
      meanwhile: gone,
      levels: 1,
      unlike: {
        why: 'the copy takes the lock anew, and truly: the caller holds what it is reported it holds',
        outcome: { ...holding(kind, 30_000) },
      },
    }),
    acquire('free, with a lease that runs out meanwhile', {
      act: ({ lock }) => lock.lock(6_000),
      meanwhile: () => sleep(6_050),
      levels: 1,
      unlike: {
        why: 'the copy takes the lock anew, for a lease that begins then',
        outcome: { ...holding(kind, 6_000) },
      },
    }),
  ]
}

/** What is seen of a hold of one level. */
export function holding(kind: Kind, ttl: number) {
  const hash = {
    lock: ['us=1'],
    'fenced-lock': ['us=1'],
    'fair-lock': ['us=1'],
    'read-lock': ['mode=read', 'us=1'],
    'write-lock': ['mode=write', 'us:write=1'],
  }
  return {
    count: { value: 1 },
    held: { value: true },
    locked: { value: true },
    ttlAsked: { value: ttl },
    hash: hash[kind],
    ttl,
    readTimeouts: kind === 'read-lock' ? { 'us#1': ttl } : ({} as Record<string, number>),
    lost: [],
    unlocked: [{ value: undefined }],
    messages: [kind === 'write-lock' ? '1' : '0'],
  }
}
