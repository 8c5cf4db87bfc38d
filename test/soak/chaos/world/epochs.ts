import { setTimeout as sleep } from 'node:timers/promises'
import type { Epochs } from '../worker/messages'

/** ms */
const CONNECTED_WITHIN = 1_500

/** Which generation of the objects is in use; a new one begins where the last can no longer be judged. */
export class EpochCount {
  private current: Epochs = { withoutOwners: 0, others: 0 }

  constructor(private readonly onNext: (epochs: Epochs) => void) {}

  get now(): Epochs {
    return this.current
  }

  /** What the server confirmed may be gone. The next generation begins when all clients are at the new primary. */
  async dataLost(): Promise<void> {
    await sleep(CONNECTED_WITHIN)
    const { withoutOwners, others } = this.current
    this.begin({ withoutOwners: withoutOwners + 1, others: others + 1 })
  }

  /** Permits without owners stay with the process that was killed. */
  workerKilled(): void {
    const { withoutOwners, others } = this.current
    this.begin({ withoutOwners: withoutOwners + 1, others })
  }

  private begin(epochs: Epochs) {
    this.current = epochs
    this.onNext(epochs)
  }
}
