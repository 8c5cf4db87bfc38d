import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { CommandPredicate } from './lost-reply'

/** A command that stayed on the way when its connection broke, with all that was sent behind it. */
export interface LateCopy {
  /** The words of the command. */
  readonly words: readonly string[]
  /**
   * Lets it arrive, on the connection to the server on which it was sent. Resolves with `executed` once the server has
   * answered, and with `dead` where the server has closed that connection.
   */
  arrive(): Promise<'executed' | 'dead'>
}

/** A command that is to stay on the way: armed until one matches. */
export interface Withholding {
  readonly matches: CommandPredicate
  readonly happened: (copy: LateCopy) => void
}

/** What is kept back of one connection. */
export class KeptBack implements LateCopy {
  private readonly frames: Buffer[] = []

  constructor(
    readonly words: readonly string[],
    private readonly server: Socket,
  ) {}

  add(frame: Buffer): void {
    this.frames.push(frame)
  }

  async arrive(): Promise<'executed' | 'dead'> {
    const { server } = this
    if (server.destroyed || server.readableEnded) return 'dead'
    const answered = once(server, 'data').then(() => 'executed' as const)
    const closed = once(server, 'close').then(() => 'dead' as const)
    // Whichever comes second, or not at all, is of no interest; nor is why the connection is closed.
    for (const outcome of [answered, closed]) outcome.catch(() => {})
    server.write(Buffer.concat(this.frames.splice(0)))
    return await Promise.any([answered, closed])
  }
}
