import { nameAt } from '../plan/objects'
import type { Epochs } from '../worker/messages'

/** Which generation of the objects a worker uses now. */
export class Generation {
  private over = new AbortController()
  private readonly stopping = new AbortController()

  constructor(private epochs: Epochs) {}

  /** Aborts when the next one begins. */
  get signal(): AbortSignal {
    return this.over.signal
  }

  /** The same, and when the worker is to stop: for callers that no other caller would release any more. */
  get end(): AbortSignal {
    return AbortSignal.any([this.over.signal, this.stopping.signal])
  }

  stop(): void {
    this.stopping.abort(new DOMException('the run is over', 'AbortError'))
  }

  next(epochs: Epochs): void {
    this.epochs = epochs
    const { over } = this
    this.over = new AbortController()
    over.abort(new DOMException('the next generation is in use', 'AbortError'))
  }

  nameOf(kind: 'semaphore' | 'permits' | 'latch', name: string): string {
    return nameAt(name, kind === 'semaphore' ? this.epochs.withoutOwners : this.epochs.others)
  }
}
