import { uniqueName } from '../kit/clients'
import { clientAndRedis, lock, redisson } from '../kit/each-test'
import { Section } from '../kit/section'

/** What the siblings of the test that runs now enter. */
export let section: Section

/** For a `describe`. */
export function siblingScene(): void {
  clientAndRedis('siblings')
  beforeEach(() => {
    section = new Section()
  })
}

/** Opens a branch that does not take the lock by itself. */
export function branch<T>(fn: () => Promise<T>): Promise<T> {
  return redisson.getLock(uniqueName('branch')).withLock(fn)
}

export function siblings(count = 3) {
  return Promise.all(Array.from({ length: count }, (_, index) => lock.withLock(() => section.enter(index))))
}
