import type { BrokenConnection } from '../redis/fencing/broken-connections'
import type { ScriptTransport } from './transport'

/** What a call knows of its attempts that ended with their connections. */
export class UnansweredAttempts {
  /** An attempt ended before its answer came: whether it was applied is unknown. */
  mayHaveBeenApplied = false
  /** The connections on which attempts ended. */
  private broken: BrokenConnection[] | undefined
  /** An attempt ended, and not with a connection that is known to have broken. */
  private isUntraced = false
  /** Where the last attempt was sent. */
  private sentTo = ''

  constructor(
    /** The last connection that had broken before the last attempt. */
    private brokenBefore: BrokenConnection,
  ) {}

  /** An attempt for this key is being sent. */
  isSent(transport: ScriptTransport, key: string): void {
    this.sentTo = transport.serverOf(key)
  }

  /**
   * The attempt for this key ended just now, with its connection. Where the slot of the key has moved since it was sent,
   * either server may have got it. The old one need not come back, so only the new one is waited for.
   */
  brokeOff(transport: ScriptTransport, key: string): void {
    this.mayHaveBeenApplied = true
    const server = transport.serverOf(key)
    this.broken ??= []
    const known = this.broken.length
    for (let each = this.brokenBefore.next; each; each = each.next)
      if (each.server === server) this.broken.push(each)
    this.brokenBefore = transport.lastBroken
    if (this.broken.length === known || server !== this.sentTo) this.isUntraced = true
  }

  /** An attempt ended with its connection, so that the server may have applied it. */
  get connectionBroke(): boolean {
    return this.broken !== undefined
  }

  /** A copy may still arrive: it was sent on a connection that is not fenced. */
  get lateCopyPossible(): boolean {
    return this.isUntraced || (this.broken?.some(({ state }) => state !== 'fenced') ?? false)
  }

  /** A connection that broke is still to be fenced. */
  get isFencePending(): boolean {
    return this.broken?.some(({ state }) => state === 'pending') ?? false
  }

  /**
   * Calls back once no copy can arrive any more, or once it is known that this cannot be ensured. Before that nothing
   * is resent or undone.
   */
  whenFenced(callback: () => void): void {
    const pending = this.broken?.find(({ state }) => state === 'pending')
    if (pending) pending.whenSettled(() => this.whenFenced(callback))
    else callback()
  }
}
