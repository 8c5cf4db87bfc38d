import { WrongTypeError } from '../api/errors'
import type { Reply, ScriptCall } from '../scripts/script-runner'
import { NOT_HELD } from './lock-protocol'

/** The answer to one who held the lock: a key that holds something else by now no longer holds the lock. */
export async function answerToHolder(call: ScriptCall): Promise<Reply> {
  try {
    return await call.answer
  } catch (error) {
    if (!(error instanceof WrongTypeError)) throw error
    return notHeldBy(call)
  }
}

/** What a key that holds no lock of this kind says to one who held it. */
export function notHeldBy(call: ScriptCall): Reply {
  return { value: NOT_HELD, sent: call.started, connectionBroke: false, acknowledged: true }
}
