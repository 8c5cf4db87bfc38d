import type { BrokenConnection } from '../redis/fencing/broken-connections'
import type { ScriptTransport } from './transport'

/** The attempts of a call whose connections broke before an answer. */
export class UnansweredAttempts {
  /** An attempt ended without an answer, so the command may or may not have been applied. */
  mayHaveBeenApplied = false
  /** The connections on which attempts ended. */
  private broken: BrokenConnection[] | undefined
  /** An attempt ended, and the client does not know on which connection it was. */
  private isUntraced = false
  /** The server of the last attempt. */
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
   * The connection of the attempt for this key broke just now. If the slot of the key has moved since the attempt was sent,
   * either server may have received it. The old server may never come back, so the call waits for a fence of the new one only.
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

  /** Whether an attempt ended with its connection. The server may have applied it. */
  get connectionBroke(): boolean {
    return this.broken !== undefined
  }

  /** Whether a copy may still arrive: its connection is not fenced. */
  get lateCopyPossible(): boolean {
    return this.isUntraced || (this.broken?.some(({ state }) => state !== 'fenced') ?? false)
  }

  /** Whether the fence of a broken connection is still pending. */
  get isFencePending(): boolean {
    return this.broken?.some(({ state }) => state === 'pending') ?? false
  }

  /**
   * Calls back once no copy can arrive any more, or once no fence can ensure that. Before that the client neither resends
   * nor undoes the command.
   */
  whenFenced(callback: () => void): void {
    const pending = this.broken?.find(({ state }) => state === 'pending')
    if (pending) pending.whenSettled(() => this.whenFenced(callback))
    else callback()
  }
}
