import { asleep } from '../../kit/sleepers'
import { holding } from './acquiring-cases'
import type { Case } from './matrix'
import { answerOf } from './observing'
import type { Kind, Scene } from './scene'
import { another, expire, gone, rows, sleep, takenOver } from './steps'

const GIVER = { threadId: 50 }

/** The caller waits behind another thread of its client, which has the lock for no time and hands it off. */
export function handingOff(kind: Kind): Case[] {
  const queues = new WeakMap<Scene, { waiting: number; settled: Promise<unknown>[] }>()
  const arrange = async (scene: Scene, take: (scene: Scene) => Promise<unknown>, behind = 0) => {
    const { lock, rival, us, name } = scene
    await rival.lock(another)
    const giving = lock.lock(GIVER).then(() => answerOf(() => lock.unlock(GIVER)))
    const settled = [giving, answerOf(() => take(scene))]
    if (behind > 0) await scene.othersWait(lock)
    const waiting = settled.length + behind
    queues.set(scene, { waiting, settled })
    await asleep(us, `lock ${name}`, waiting)
  }
  // What the giver's unlock and the taker's lock have answered.
  const act = async (scene: Scene) => {
    const { waiting, settled } = queues.get(scene)!
    // What was published to see that all has been heard has woken the queue.
    await sleep(100)
    await asleep(scene.us, `lock ${scene.name}`, waiting)
    await scene.rival.unlock(another)
    return await Promise.all(settled)
  }
  // A hold older than a cohort, 10 ms, is released with a message instead.
  const handoff = rows({ kind, script: 'lock/handoff', act, levels: 1, isSentInTime: true })
  const plainly = ({ lock }: Scene) => lock.lock()
  return [
    handoff('one waits', {}, (scene) => arrange(scene, plainly)),
    handoff('one waits, who wants a longer lease', {}, (scene) =>
      arrange(scene, ({ lock }) => lock.lock(60_000)),
    ),
    handoff('one waits for a while', {}, (scene) => arrange(scene, ({ lock }) => lock.tryLock(20_000))),
    handoff('one waits, and others of this client behind', {}, (scene) => arrange(scene, plainly, 2)),
    handoff(
      'one waits, and others of another client come before the copy',
      { meanwhile: (scene) => scene.othersWait() },
      (scene) => arrange(scene, plainly),
    ),
    handoff(
      'one waits, ended by force meanwhile',
      {
        meanwhile: gone,
        unlike: {
          why: 'the copy finds neither; the giver had handed it over, and the taker asks for itself and gets in',
          outcome: holding(kind, 30_000),
        },
      },
      (scene) => arrange(scene, plainly),
    ),
    handoff(
      'one waits, whose lease runs out meanwhile',
      {
        meanwhile: expire,
        unlike: {
          why: 'the copy finds neither; the giver had handed it over, and the taker asks for itself and gets in',
          outcome: holding(kind, 30_000),
        },
      },
      (scene) => arrange(scene, plainly),
    ),
    handoff(
      'one waits for a while, taken by force and by another meanwhile',
      {
        levels: 0,
        meanwhile: takenOver,
        unlike: {
          why: 'the copy finds another: the taker gets "not acquired", and is spared the loss of what it had',
          outcome: {
            answer: { value: [{ value: undefined }, { value: false }] },
            lost: [],
            ttl: 30_000 - 5_000,
            ttlAsked: { value: 30_000 - 5_000 },
          },
        },
      },
      (scene) => arrange(scene, ({ lock }) => lock.tryLock(5_000)),
    ),
  ]
}
