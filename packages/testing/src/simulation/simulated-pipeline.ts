import { toReply } from '../bytes'
import type { Engine } from '../engine'

/** The connection, as the pipeline uses it. */
interface Sender {
  readonly server: { readonly engine: Engine }
  /** The names of the scripts, by hash and by source: for the trace. */
  readonly scriptNames: ReadonlyMap<string, string>
  send(
    command: string,
    words: readonly string[],
    execute: () => unknown,
    answered: (value: unknown) => void,
    failed: (error: unknown) => void,
  ): void
  wait(timeout: number): Promise<number>
}

/** Scripts and a WAIT that are written together. */
export class SimulatedPipeline {
  private readonly answers: Promise<unknown>[] = []

  constructor(private readonly redis: Sender) {}

  call(how: string, script: string, count: string, ...all: string[]): void {
    const { redis } = this
    const [keys, words] = [all.slice(0, Number(count)), all.slice(Number(count))].map((of) => of.map(String))
    const execute = () => {
      const { engine } = redis.server
      return toReply(
        how === 'eval' ? engine.evaluate(script, keys!, words!) : engine.evaluateBySha(script, keys!, words!),
      )
    }
    const noted = [redis.scriptNames.get(script) ?? script, ...keys!, ...words!]
    this.answers.push(new Promise((resolve, reject) => redis.send(how, noted, execute, resolve, reject)))
  }

  wait(_replicas: number, timeout: number): void {
    this.answers.push(this.redis.wait(timeout))
  }

  async exec() {
    const settled = await Promise.allSettled(this.answers)
    return settled.map((each) =>
      each.status === 'fulfilled' ? [null, each.value] : [each.reason as Error, undefined],
    )
  }
}
