import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../../../kit/random'
import type { Side } from '../evidence/records'
import { nameAt } from '../plan/objects'
import type { Surroundings } from '../worker/caller'
import type { Turn } from '../worker/evidence-writer'
import type { Epochs } from '../worker/messages'

/** What the callers of all objects have in common: one turn after the other, each recorded. */
export abstract class Turns {
  protected readonly random: Random
  private turns = 0

  constructor(
    protected readonly around: Surroundings,
    protected readonly name: string,
    seed: number,
  ) {
    this.random = new Random(seed)
  }

  /** Until the worker is to stop. */
  async run(): Promise<void> {
    while (!this.around.stopping()) {
      await this.turn()
      const pause = this.pauseMs()
      if (pause > 0) await sleep(pause)
    }
  }

  protected abstract turn(): Promise<void>

  protected abstract pauseMs(): number

  protected next(lock: string, side: Side, more: Partial<Turn> = {}): Turn {
    return { caller: this.name, lock, side, turn: ++this.turns, lease: undefined, ...more }
  }

  /** `given`: the signal by which the caller itself gave up. */
  protected async quit(turn: Turn, error?: unknown, given?: AbortSignal): Promise<void> {
    if (error === undefined) return await this.around.evidence.note('quit', turn)
    const { name, code, message } = error as { name?: string; code?: string | number; message: string }
    await this.around.evidence.note('quit', turn, { error: `${code ?? name}: ${message}` })
    if (name === 'TimeoutError' || given?.aborted) return
    this.around.failed(error)
    // An unreachable server must not turn the loop into a busy one.
    await sleep(50)
  }
}

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
