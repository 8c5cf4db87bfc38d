import type { Redisson } from '../../../../src/index'
import type { CyclesOrder, CyclesResult } from '../messages'
import { footprint, phase, spread } from './measuring'
import { reporting } from './parent'
import { LOCKS, OBJECTS } from './ways'

const AT_ONCE = 200

export async function cycles(redisson: Redisson, { count, of }: CyclesOrder): Promise<CyclesResult> {
  const ways = of === 'locks' ? LOCKS : OBJECTS
  let done = 0
  const cycle = (label: string) => async (index: number) => {
    await ways[index % ways.length]!(redisson, `endurance:${label}:${index}`, index)
    done++
  }
  // Until code is compiled and the pools of the runtime have grown, memory would tell of them.
  await spread(Math.max(10_000, count / 20), AT_ONCE, cycle('warm-up'))
  const before = await footprint(redisson)
  done = 0
  const reported = reporting(() => `${done} of ${count} cycles`)
  const work = await phase(() => spread(count, AT_ONCE, cycle('cycle')))
  reported()
  return { part: 'cycles', count, of, work, before, after: await footprint(redisson) }
}
