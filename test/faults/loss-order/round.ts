import { setTimeout as sleep } from 'node:timers/promises'
import type { Expectation, Fault } from './faults'
import type { Heard } from './holder'
import type { Attempt, Lane } from './lane'

/** What one round showed; times in ms, undefined for what did not happen. */
export interface Round {
  readonly fault: string
  readonly lost: boolean
  readonly faultToSignal: number | undefined
  readonly faultToNotHeld: number | undefined
  /** Negative where Redis let the other in first. */
  readonly signalToOther: number | undefined
  readonly wakingToSignal: number | undefined
  /** What `isHeld` said to the code that read it first after a pause. */
  readonly heldOnWaking: boolean | undefined
  readonly problems: readonly string[]
}

/**
 * When Redis let the other in is known in whole milliseconds, and read up to so many too early. A client
 * releases what is left of a lost hold a millisecond after its signal.
 */
const RESOLUTION = 2

let rounds = 0

export async function playRound<L extends Lane>(lane: L, fault: Fault<L>, lease: number): Promise<Round> {
  const name = `loss:${process.pid}:${++rounds}`
  const { holder, contender, redis } = lane
  await holder.hold({ redis, name, lease, explicit: fault.explicit ?? false })
  const attempt = contender.join(name)
  try {
    // Anywhere between two renewals; an explicit lease has no second chance.
    await sleep(lease * (fault.explicit ? 0.1 : 0.2 + Math.random()))
    const problems = holder.heard.signal === undefined ? [] : ['lost before the fault']
    const { at, ended } = await fault.inflict(lane, lease)
    problems.push(...(await observe(lane, fault.expects, attempt, lease)))
    return roundOf(fault, holder.heard, attempt.letIn, at, ended, problems)
  } finally {
    await fault.heal?.(lane)
    await holder.end()
    await attempt.leave()
  }
}

/** Waits for what is expected; answers what is missing. */
async function observe(lane: Lane, expects: Expectation, attempt: Attempt, lease: number): Promise<string[]> {
  const { holder } = lane
  const { heard } = holder
  const patience = 4 * lease + 5_000
  if (expects === 'kept') {
    if (await holder.until(() => heard.signal !== undefined, 2 * lease)) return ['lost']
    if (await attempt.inside(0)) return ['the other is inside too']
    holder.order({ do: 'unlock' })
    return (await attempt.inside(patience)) ? [] : ['the other is not let in after the release']
  }
  const problems: string[] = []
  if (!(await attempt.inside(patience))) problems.push('the other is never let in')
  const reported = () =>
    heard.signal !== undefined &&
    heard.notHeld !== undefined &&
    (expects !== 'paused' || heard.woke !== undefined)
  if (!(await holder.until(reported, patience))) problems.push('the loss is never noticed')
  return problems
}

function roundOf(
  fault: Pick<Fault<never>, 'id' | 'expects'>,
  { signal, notHeld, woke }: Heard,
  letIn: number | undefined,
  at: number,
  ended: number | undefined,
  problems: string[],
): Round {
  const since = (from: number | undefined, to: number | undefined) =>
    from === undefined || to === undefined ? undefined : to - from
  const signalToOther = since(signal, letIn)
  if (fault.expects === 'lost' && signalToOther !== undefined && signalToOther <= -RESOLUTION)
    problems.push('the other was let in before the signal')
  const waking = fault.expects === 'paused' ? (ended ?? woke?.at) : undefined
  const heldOnWaking = fault.expects === 'paused' ? woke?.isHeld : undefined
  if (heldOnWaking) problems.push('isHeld was still true on waking')
  return {
    fault: fault.id,
    lost: signal !== undefined,
    faultToSignal: since(at, signal),
    faultToNotHeld: since(at, notHeld),
    signalToOther,
    wakingToSignal: since(waking, signal),
    heldOnWaking,
    problems,
  }
}
