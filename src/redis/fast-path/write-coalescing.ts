import type { Writable } from 'node:stream'
import { nextTick } from '../../util/timers'

/** So many commands go in one write, so that the server has something to do while the next are being made. */
const TOGETHER = 16

/** What was written to one stream in this turn of the event loop. */
class WriteBatch {
  private commands = 0
  private corked = false

  constructor(private readonly stream: Writable) {}

  add(): void {
    if (this.commands === 0) nextTick(this.end)
    else if (this.commands % TOGETHER === 1) this.cork()
    this.commands++
  }

  private cork() {
    if (this.corked) this.stream.uncork()
    this.corked = true
    this.stream.cork()
  }

  private readonly end = () => {
    this.commands = 0
    if (this.corked) this.stream.uncork()
    this.corked = false
  }
}

const batches = new WeakMap<Writable, WriteBatch>()

function batchOf(stream: Writable): WriteBatch {
  let batch = batches.get(stream)
  if (!batch) {
    batch = new WriteBatch(stream)
    batches.set(stream, batch)
  }
  return batch
}

/**
 * To be called before each command that is written to a stream: writes what comes in one turn of the event loop
 * together, but for the first. A system call for each command is most of what many concurrent callers cost, and a
 * single caller is not to wait for others.
 */
export function coalesceWrites(stream: Writable): void {
  batchOf(stream).add()
}
