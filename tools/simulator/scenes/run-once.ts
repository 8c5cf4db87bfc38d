import type { SimulatedObject } from '../judge/history'
import type { Caller, Scene } from '../scene'

/** A job that all instances start at about the same time, and one of them runs. */
export async function runOnceSection(
  caller: Caller,
  object: SimulatedObject,
  atLeast: number,
): Promise<void> {
  const { choices, redisson, recorder, client } = caller
  const length = [0, 5, atLeast * 0.5, atLeast * 1.5, atLeast * 4][choices.weigh([4, 4, 2, 1, 0.5])]!
  const own = { client: client.name, caller: `${caller.name}.${caller.count()}`, object }
  const id = recorder.call({ ...own, operation: 'acquire', as: 'runOnce', wait: 0, lease: atLeast })
  let release: number | undefined
  let isAnswered = false
  let isOver = false
  try {
    const isRun = await redisson.runOnce(
      object.name,
      async (task) => {
        isAnswered = true
        recorder.returned(id, { ok: true })
        recorder.sections++
        task.signal.addEventListener(
          'abort',
          () => {
            if (release === undefined && !isOver) recorder.told(id, 'signal')
            isOver = true
          },
          { once: true },
        )
        // To read the signal looks at the clock: a process that was suspended learns of its loss before it acts.
        for (let piece = 0; piece < 3 && !task.signal.aborted; piece++) {
          recorder.acted(id)
          await caller.sleep(length / 3)
        }
        release = recorder.call({ ...own, operation: 'release', hold: id })
      },
      { atLeast },
    )
    if (!isRun) recorder.returned(id, { ok: false })
    // A task that was told has released nothing, also where its client was shut down.
    else if (isOver) recorder.failed(release!, { code: 'LOCK_LOST' })
    else recorder.returned(release!, { ok: true })
  } catch (error) {
    if (release !== undefined) recorder.failed(release, error)
    else if (!isAnswered) recorder.failed(id, error)
  }
}

export const runOnce: Scene = {
  name: 'run-once',
  about: 'jobs of several instances, of which one runs at a time and not again before its time',
  setUp(choices) {
    const object = { kind: 'run-once', name: 'job' } as const
    const atLeast = choices.pick([500, 50, 2_000])
    return {
      objects: [object],
      async caller(caller) {
        for (let run = 0; run < caller.settings.sections; run++) {
          await runOnceSection(caller, object, atLeast)
          await caller.sleep(caller.choices.pick([atLeast, atLeast / 3, 5]))
        }
      },
    }
  },
}
