import type { RSemaphore } from '../../../src/synchronizers/semaphore'
import type { SimulatedObject } from '../judge/history'
import { abortAfter, look, operation, repeat, setFirst, told } from '../operation'
import type { Caller, Scene } from '../scene'
import { javaSemaphoreSection, javaThreads } from './java'

/** What a killed client has taken is gone for good, so that no caller waits for ever. */
const LONGEST_WAIT = 4_000

/** One caller takes permits in one of all ways, and releases them. */
export async function semaphoreSection(
  caller: Caller,
  object: SimulatedObject,
  total: number,
): Promise<void> {
  const { choices, redisson, recorder } = caller
  const semaphore = redisson.getSemaphore(object.name)
  const owner = `${caller.name}.${caller.count()}`
  const units = Math.min(total, [1, 2, 3][choices.weigh([5, 2, 1])]!)
  const wait = [LONGEST_WAIT, 0, 1, 20, 500][choices.weigh([6, 2, 1, 1, 1])]!
  const how = choices.pick(['tryAcquire', 'acquire', 'withPermits'] as const)
  const length = [0, 1, 3, 10, 50, 500][choices.weigh([8, 8, 6, 6, 2, 0.5])]!
  const asked = { object, operation: 'acquire', units, as: how } as const
  if (how === 'withPermits')
    return await withPermits(caller, object, semaphore, owner, { units, wait, length })
  const taken =
    how === 'acquire'
      ? await operation(caller, owner, asked, () =>
          semaphore.acquire({ permits: units, signal: abortAfter(caller, Math.max(1, wait)) }),
        )
      : await operation(
          caller,
          owner,
          { ...asked, wait },
          () => semaphore.tryAcquire({ permits: units, waitTime: wait }),
          told,
        )
  if (!taken || taken.value === false) return
  recorder.sections++
  if (length > 0) await caller.sleep(length)
  const release = { object, operation: 'release', units, hold: taken.id } as const
  await operation(caller, owner, release, () => semaphore.release(units))
}

async function withPermits(
  { sleep, recorder, client }: Caller,
  object: SimulatedObject,
  semaphore: RSemaphore,
  owner: string,
  { units, wait, length }: { units: number; wait: number; length: number },
): Promise<void> {
  const own = { client: client.name, caller: owner, object, units }
  const id = recorder.call({ ...own, operation: 'acquire', as: 'withPermits', wait })
  let release: number | undefined
  try {
    await semaphore.withPermits(
      async () => {
        recorder.returned(id, { ok: true })
        recorder.sections++
        if (length > 0) await sleep(length)
        release = recorder.call({ ...own, operation: 'release', hold: id })
      },
      { permits: units, waitTime: wait },
    )
    recorder.returned(release!, { ok: true })
  } catch (error) {
    if (release !== undefined) recorder.failed(release, error)
    else if ((error as { code?: string }).code === 'LOCK_TIMEOUT') recorder.returned(id, { ok: false })
    else recorder.failed(id, error)
  }
}

/** Looks at the free permits now and then. */
export async function lookAtPermits(caller: Caller, object: SimulatedObject): Promise<void> {
  const semaphore = caller.redisson.getSemaphore(object.name)
  await look(caller, `${caller.name}.look`, { object, as: 'availablePermits' }, () =>
    semaphore.availablePermits(),
  )
}

export const semaphore: Scene = {
  name: 'semaphore',
  about: 'a semaphore whose callers want several permits, wait, abort and look',
  setUp(choices) {
    const object = { kind: 'semaphore', name: 'permits' } as const
    const total = choices.pick([2, 1, 3, 5])
    return {
      objects: [object],
      javaCaller: javaThreads((caller) => javaSemaphoreSection(caller, object, total)),
      async begin(caller) {
        const set = caller.redisson.getSemaphore(object.name)
        await setFirst(caller, object, total, () => set.trySetPermits(total))
      },
      caller(caller) {
        return repeat(caller, caller.settings.sections, async () => {
          await semaphoreSection(caller, object, total)
          if (caller.choices.happens(0.05)) await lookAtPermits(caller, object)
        })
      },
    }
  },
}
