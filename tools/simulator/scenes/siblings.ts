import type { SimulatedObject } from '../judge/history'
import { lockSection } from '../lock-section'
import { repeat } from '../operation'
import type { Caller, Scene } from '../scene'

const OBJECTS: readonly SimulatedObject[] = [
  { kind: 'lock', name: 'one' },
  { kind: 'lock', name: 'two' },
]

export const siblings: Scene = {
  name: 'siblings',
  about: 'logical threads whose branches take the lock of their parent, and another one, at the same time',
  setUp() {
    return {
      objects: OBJECTS,
      caller(caller) {
        return repeat(caller, caller.settings.sections / 2, () => family(caller))
      },
    }
  },
}

/** Branches that take the lock of their parent again: one after the other, also beside those that take the second. */
function again({ redisson, choices, sleep }: Caller, branches: number): Promise<void>[] {
  let inside = 0
  const branch = async () => {
    if (inside++ > 0) throw new Error('Two branches of one thread are inside at once')
    await sleep(choices.pick([0, 1, 5]))
    inside--
  }
  return Array.from({ length: branches }, () =>
    redisson
      .getLock('one')
      .withLock(branch)
      .catch((error) => {
        // It was lost, or the server is away.
        if ((error as { code?: string }).code === undefined) throw error
      }),
  )
}

/** A thread that holds the first lock, and branches below it that take the second. */
async function family(caller: Caller): Promise<void> {
  const { redisson, choices } = caller
  const [outer, inner] = OBJECTS
  const branches = choices.weigh([1, 2, 1]) + 1
  const mayEnterAgain = choices.happens(0.3)
  await lockSection(caller, outer!, redisson.getLock('one'), {
    mayReenter: false,
    // Only a logical thread has branches that may enter again.
    ...(mayEnterAgain ? { way: { scope: 'run' } } : {}),
    inside: async () => {
      const below = Array.from({ length: branches }, () =>
        lockSection(caller, inner!, redisson.getLock('two'), {
          // Each branch needs a thread of its own: `withLock` opens one below that of its parent.
          ...{ mayReenter: false, mayScope: false, as: 'withLock' },
        }),
      )
      await Promise.all([...below, ...(mayEnterAgain ? again(caller, branches) : [])])
    },
  })
}
