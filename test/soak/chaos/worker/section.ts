import { setTimeout as sleep } from 'node:timers/promises'
import type { LockHold } from '../../../../src/index'
import type { EvidenceWriter, Turn } from './evidence-writer'

/**
 * One critical section: reads the counter, stays, and writes it one higher, deliberately in two steps, unless
 * the lock was lost in between; and records each step. Does not release.
 */
export async function section(
  evidence: EvidenceWriter,
  turn: Turn,
  hold: LockHold,
  holdMs: number,
): Promise<void> {
  let reported = false
  const tell = () => {
    if (!reported) evidence.note('lost', turn)
    reported = true
  }
  const { token } = hold as { readonly token?: number }
  const entered = evidence.enter({ ...turn, token, owner: hold.owner })
  if (hold.signal.aborted) tell()
  hold.signal.addEventListener('abort', tell, { once: true })
  const counter = await entered
  await sleep(holdMs)
  hold.signal.removeEventListener('abort', tell)
  if (hold.isHeld) await evidence.leave(turn, turn.side === 'r' ? undefined : counter + 1)
  else tell()
}

/** Releases, and records how that went. */
export async function release(evidence: EvidenceWriter, turn: Turn, hold: LockHold): Promise<void> {
  try {
    await hold.unlock()
    evidence.note('free', turn, { ok: true })
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    evidence.note('free', turn, { ok: false, error: code ?? message })
  }
}
