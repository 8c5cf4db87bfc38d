import type { Moment } from '../util/clock'
import { perObject } from '../util/per-object'
import type { Context } from './context'

/**
 * The time by the server's clock, as far as the client knows it, for scripts that have a deadline. With several servers it comes
 * from the last answer of any of them. A server whose clock is far ahead answers that a call is late, and its answer contains
 * its time.
 */
export class ServerTime {
  private said: number | undefined
  private heard: Moment | undefined

  private constructor(private readonly context: Context) {}

  /** The one of this client. */
  static readonly of = perObject((context: Context) => new ServerTime(context))

  /** A script was answered. Its answer contains the time by the server's clock, in ms. */
  learn(serverTime: number): void {
    this.said = serverTime
    this.heard = this.context.clock.now()
  }

  /** The time by the server's clock in this many ms; undefined before the first answer. */
  in(ms: number): number | undefined {
    const { said, heard, context } = this
    return said === undefined ? undefined : Math.ceil(said + context.clock.elapsedSince(heard!) + ms)
  }
}
