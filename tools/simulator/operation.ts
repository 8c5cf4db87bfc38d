import type { Called, Returned, SimulatedObject } from './judge/history'
import type { Caller } from './scene'

export type Asked = Omit<Called, 'type' | 'at' | 'id' | 'client' | 'caller'>

/** The reason of an abort. One for all: to make an error costs more than a section. */
const ABORTED = Object.assign(new Error('aborted'), { name: 'AbortError' })

/** One operation, with its record. Undefined: it rejected. `answer` says what the judge learns from what it resolved with. */
export async function operation<T>(
  caller: Caller,
  owner: string,
  asked: Asked,
  run: () => Promise<T>,
  answer: (value: T) => Partial<Omit<Returned, 'type' | 'at' | 'id'>> = () => ({}),
): Promise<{ readonly id: number; readonly value: T } | undefined> {
  const { recorder, client } = caller
  const id = recorder.call({ ...asked, client: client.name, caller: owner })
  try {
    const value = await run()
    recorder.returned(id, { ok: true, ...answer(value) })
    return { id, value }
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'LOCK_TIMEOUT') recorder.returned(id, { ok: false })
    else recorder.failed(id, error)
    return undefined
  }
}

/** A look at a number. */
export const look = (
  caller: Caller,
  owner: string,
  asked: Pick<Asked, 'object' | 'as'>,
  run: () => Promise<number>,
) => operation(caller, owner, { ...asked, operation: 'look' }, run, (value) => ({ value }))

/** A signal that aborts after this time, by the clock of the caller's client. */
export function abortAfter(caller: Caller, ms: number): AbortSignal {
  const controller = new AbortController()
  void caller.sleep(ms).then(() => controller.abort(ABORTED))
  return controller.signal
}

/** What resolved with whether it was done. */
export const told = (ok: boolean) => ({ ok })

/** Sets the permits of a semaphore or the count of a latch, before the callers begin. */
export async function setFirst(
  caller: Caller,
  object: SimulatedObject,
  units: number,
  set: () => Promise<boolean>,
): Promise<void> {
  await operation(caller, 'first', { object, operation: 'set', units }, set, told)
}

/** So many steps of one caller, with a short pause after each. */
export async function repeat(
  { choices, sleep }: Pick<Caller, 'choices' | 'sleep'>,
  steps: number,
  step: () => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < steps; at++) {
    await step()
    await sleep(choices.pick([0, 1, 5]))
  }
}
