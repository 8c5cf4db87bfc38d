import { setTimeout as sleep } from 'node:timers/promises'
import type { LossyLink } from './lossy-link'
import type { Case } from './matrix'
import { isWhole, type Scene } from './scene'

export { setTimeout as sleep } from 'node:timers/promises'

export async function times(count: number, call: () => Promise<unknown>): Promise<void> {
  for (let each = 0; each < count; each++) await call()
}

/** Another thread of the peer. */
export const another = { threadId: 1 }

/** A peer takes the lock away from its holder. */
export async function gone({ theirs, theirRead, theirWrite, kind }: Scene): Promise<void> {
  if (isWhole(kind)) await theirs.forceUnlock()
  else if (!(await theirWrite.forceUnlock())) await theirRead.forceUnlock()
}

/** A peer takes it away and holds it. */
export async function takenOver(scene: Scene): Promise<void> {
  await gone(scene)
  await scene.rival.lock({ threadId: 9 })
}

/** The lease runs out on the server, which notifies no client. */
export async function expire({ setting, name }: Scene): Promise<void> {
  await setting.admin.pexpire(name, 1)
  await sleep(10)
}

/** The watchdog's next renewal has been sent, and answered. */
export async function renewed({ lock }: Scene, link: LossyLink): Promise<void> {
  await link.seenThrough()
  // On the same connection, so answered after it.
  await lock.remainTimeToLive()
}

/** The call by which a script is sent that a lock has for itself. */
export const CALLS = {
  acquire: ({ lock }: Scene) => lock.lock(),
  reenter: ({ lock }: Scene) => lock.lock(),
  release: ({ lock }: Scene) => lock.unlock(),
  renew: renewed,
  'force-release': ({ lock }: Scene) => lock.forceUnlock(),
  inspect: ({ lock }: Scene) => lock.isLocked(),
}

/** The caller has the lock, and then comes this. */
export const heldThen = (next: (scene: Scene) => Promise<unknown>) => async (scene: Scene) => {
  await scene.lock.lock()
  await next(scene)
}

export const othersWait = (scene: Scene) => scene.othersWait()

/** What the cases of a script share, without what each says for itself. */
type Shared = Partial<Case> & Pick<Case, 'kind' | 'script'>

/** Makes the cases of a script: their state, what differs, and what comes before. No level is held in the end unless they say so. */
export const rows =
  (shared: Shared) =>
  (state: string, more: Partial<Case> = {}, arrange?: Case['arrange']): Case =>
    ({ levels: 0, ...shared, state, ...more, ...(arrange && { arrange }) }) as Case
