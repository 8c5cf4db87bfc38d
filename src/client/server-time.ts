import type { Moment } from '../util/clock'
import type { Context } from './context'

const known = new WeakMap<Context, ServerTime>()

/**
 * What a client knows of its server's clock, for scripts that may take effect before a deadline only. Where a client has
 * several servers, by the last answer of any: one whose clock is far ahead answers that a call is late, and what it says.
 */
export class ServerTime {
  private said: number | undefined
  private heard: Moment | undefined

  private constructor(private readonly context: Context) {}

  static of(context: Context): ServerTime {
    let time = known.get(context)
    if (!time) {
      time = new ServerTime(context)
      known.set(context, time)
    }
    return time
  }

  /** A script was answered: the server's clock says so many ms. */
  learn(serverTime: number): void {
    this.said = serverTime
    this.heard = this.context.clock.now()
  }

  /** What the server's clock will say in so many ms; undefined before the first answer. */
  in(ms: number): number | undefined {
    const { said, heard, context } = this
    return said === undefined ? undefined : Math.ceil(said + context.clock.elapsedSince(heard!) + ms)
  }
}
