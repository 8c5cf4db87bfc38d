import type { Context } from '../client/context'
import type { Orphan } from '../leases/orphan-releaser'
import type { Moment } from '../util/clock'
import type { Hold } from './hold'
import type { AnyLockScripts } from './lock-scripts'

/** The lock that an owner may still hold although no caller waits for it. */
export class LockOrphan implements Orphan {
  constructor(
    private readonly context: Context,
    private readonly scripts: AnyLockScripts,
    private readonly owner: string,
    readonly lease: number,
  ) {}

  async release(): Promise<void> {
    const { value } = await this.scripts.release(this.owner, 0, 0, 0).answer
    if (value.result === 'freed') this.context.queues.freed(this.scripts, value.notified)
    this.context.unpublishedReleases.released(this.scripts, value)
  }
}

/** Releases in the background what the server may still have of a hold. `since`: when its lease was last set. */
export function releaseOrphan(scripts: AnyLockScripts, hold: Hold, lease: number, since: Moment): void {
  const { context, ownerField } = hold
  context.orphans.hold(new LockOrphan(context, scripts, ownerField, lease), since)
}
