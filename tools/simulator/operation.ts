import type { Called, Returned } from './judge/history'
import type { Caller } from './scene'

export type Asked = Omit<Called, 'type' | 'at' | 'id' | 'client' | 'caller'>

/** The reason of an abort. One for all: to make an error costs more than a section. */
export const ABORTED = Object.assign(new Error('aborted'), { name: 'AbortError' })

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

/** A signal that aborts after this time, by the clock of the caller's client. */
export function abortAfter(caller: Caller, ms: number): AbortSignal {
  const controller = new AbortController()
  void caller.sleep(ms).then(() => controller.abort(ABORTED))
  return controller.signal
}
