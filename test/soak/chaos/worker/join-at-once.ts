import type { LockPlan } from '../plan/objects'
import type { Surroundings } from './caller'
import { release, section } from './caller'
import type { Turn } from './evidence-writer'
import { lockOf } from './locks'

let crowds = 0

/** A crowd that comes in one turn of the event loop; resolves when the last of it has left. */
export async function joinAtOnce(
  { redisson, evidence, failed }: Surroundings,
  { plan, count, waitTime }: { plan: LockPlan; count: number; waitTime: number },
): Promise<void> {
  const { name } = plan
  const lock = lockOf(redisson, plan, 'x')
  const crowd = ++crowds
  await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const turn: Turn = {
        caller: `crowd-${crowd}/${i + 1}`,
        lock: name,
        side: 'x',
        turn: 1,
        lease: undefined,
      }
      evidence.note('want', turn)
      try {
        const hold = await lock.tryAcquire({ waitTime })
        if (!hold) return evidence.note('quit', turn)
        await section(evidence, turn, hold, 0)
        await release(evidence, turn, hold)
      } catch (error) {
        failed(error)
        evidence.note('quit', turn, { error: String(error) })
      }
    }),
  )
}
