import type { Writable } from 'node:stream'
import { perObject } from '../../util/per-object'
import { nextTick } from '../../util/timers'

/**
 * The most commands in one write. It is bounded, so that the server can work while the client makes the next
 * commands.
 */
const TOGETHER = 16

/** The commands that were written to one stream in this tick of the event loop. */
class WriteBatch {
  private commands = 0

  constructor(private readonly stream: Writable) {}

  add(): void {
    if (this.commands === 0) nextTick(this.end)
    else if (this.commands % TOGETHER === 1) {
      if (this.commands > 1) this.stream.uncork()
      this.stream.cork()
    }
    this.commands++
  }

  private readonly end = () => {
    const { commands } = this
    this.commands = 0
    // The first command was not corked.
    if (commands > 1) this.stream.uncork()
  }
}

const batchOf = perObject((stream: Writable) => new WriteBatch(stream))

/**
 * Called before each write of a command to a stream. Puts all commands of one tick of the event loop into one
 * write, except the first: a single caller must not wait for others. A system call for each command would be
 * most of the cost of many concurrent callers.
 */
export function coalesceWrites(stream: Writable): void {
  batchOf(stream).add()
}
