import { runCommand } from '../data/commands'
import { Keyspace, ReplyError } from '../data/keyspace'
import type { Timeline } from './trace'

interface Write {
  /** By the virtual time. */
  readonly arrives: number
  /** By the clock of the primary. */
  readonly time: number
  readonly command: string
  readonly words: readonly string[]
}

const MOST_WRITES = 1_000
/** In place of a command: all keys whose time is over go. */
const EXPIRE = ''

/** A replica that has each write of its primary some ms later. */
export class Replica {
  private readonly keyspace = new Keyspace()
  private readonly writes: Write[] = []
  private arrivesLast = 0
  private written = 0
  /** How far it is behind, in ms. */
  lag = 1

  constructor(
    private readonly world: Timeline,
    keys: Keyspace,
  ) {
    this.keyspace.copyFrom(keys)
  }

  wrote(time: number, command: string, words: readonly string[]): void {
    this.arrivesLast = Math.max(this.arrivesLast, this.world.time + this.lag)
    this.written++
    this.writes.push({ arrives: this.arrivesLast, time, command, words })
    if (this.writes.length > MOST_WRITES) this.promoted()
  }

  /** What is over by the clock of the primary at this time is gone: the primary sends a DEL for each key that runs out. */
  expired(time: number): void {
    this.wrote(time, EXPIRE, [])
  }

  /** How many writes the primary has sent, and how many of them have arrived. */
  get progress(): { readonly sent: number; readonly arrived: number } {
    const { written, writes, world } = this
    return { sent: written, arrived: written - writes.filter(({ arrives }) => arrives > world.time).length }
  }

  /** When it will have all that the primary has written so far, by the virtual time. */
  get hasAllAt(): number {
    return this.arrivesLast
  }

  /** Its keys at this moment. */
  promoted(): Keyspace {
    const { time } = this.world
    while (this.writes.length > 0 && this.writes[0]!.arrives <= time) {
      const write = this.writes.shift()!
      this.keyspace.time = write.time
      if (write.command === EXPIRE) this.keyspace.dropExpired()
      else this.execute(write)
    }
    return this.keyspace
  }

  private execute({ command, words }: Write) {
    try {
      runCommand(this.keyspace, command, words)
    } catch (error) {
      // The primary answered the same error, or the command is not one of keys.
      if (!(error instanceof ReplyError)) throw error
    }
  }
}
