import { isPush, wordsOf } from './resp-frames'

export type CommandPredicate = (words: readonly string[]) => boolean

/** A reply that is to be lost: armed until a command matches, then bound to that command's reply. */
export interface LostReply {
  readonly matches: CommandPredicate
  readonly happened: () => void
}

const SUBSCRIBING = /^[ps]?(un)?subscribe$/i

/** Follows one connection and tells which reply answers which command: Redis replies in order. */
export class ReplyCounter {
  private commands = 0
  private replies = 0
  private pushesReplies = false
  private target: { reply: number | 'next'; order: LostReply } | undefined

  constructor(private readonly armed: LostReply[]) {}

  onCommand(frame: Buffer): void {
    const words = wordsOf(frame)
    const [name = '', version] = words
    if (name.toLowerCase() === 'hello' && version) this.pushesReplies = version === '3'
    const subscribes = SUBSCRIBING.test(name)
    // In RESP3 a subscription is confirmed by pushes, one a channel, and by no reply.
    if (!(subscribes && this.pushesReplies)) this.commands++
    const index = this.target ? -1 : this.armed.findIndex(({ matches }) => matches(words))
    if (index < 0) return
    const [order] = this.armed.splice(index, 1)
    this.target = { reply: subscribes ? 'next' : this.commands, order: order! }
  }

  /** The order to lose this very reply, if there is one. */
  onReply(frame: Buffer): LostReply | undefined {
    const pushed = isPush(frame)
    if (!pushed) this.replies++
    if (!this.target) return undefined
    const { reply, order } = this.target
    return reply === 'next' || (!pushed && reply === this.replies) ? order : undefined
  }
}
