import type { Writable } from 'node:stream'

/** So many commands go in one write, so that the server has something to do while the next are being made. */
const TOGETHER = 16

/** What was written to one stream in this turn of the event loop. */
class TurnOfWrites {
  private commands = 0
  private corked = false

  constructor(private readonly stream: Writable) {}

  add(): void {
    if (this.commands === 0) process.nextTick(this.end)
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

const turns = new WeakMap<Writable, TurnOfWrites>()

function turnOf(stream: Writable): TurnOfWrites {
  let turn = turns.get(stream)
  if (!turn) {
    turn = new TurnOfWrites(stream)
    turns.set(stream, turn)
  }
  return turn
}

/**
 * To be called before each command that is written to a stream: writes what comes in one turn of the event loop together, but for
 * the first. A system call for each command is most of what many flows at once cost, and one flow alone is not to wait
 * for others.
 */
export function aboutToWrite(stream: Writable): void {
  turnOf(stream).add()
}
