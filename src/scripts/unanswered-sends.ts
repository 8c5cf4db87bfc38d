import type { BrokenConnection } from '../redis/fencing/broken-connections'
import type { ScriptTransport } from './transport'

/** Each time a call was sent and its connection broke before an answer. */
export class UnansweredSends {
  /** The command was sent and not answered, so the server may have applied it. */
  mayHaveBeenApplied = false
  /** The connections that broke after the command was sent on them. */
  private broken: BrokenConnection[] | undefined

  constructor(
    /** The last connection that had broken before the command was last sent. */
    private brokenBefore: BrokenConnection,
  ) {}

  /**
   * The connection broke just now on which the command for this key was sent. If the slot of the key has moved since then,
   * either server may have received the command. The old server may never come
   * back, so the call waits for a fence of the new one only.
   */
  brokeOff(transport: ScriptTransport, key: string): void {
    this.mayHaveBeenApplied = true
    const server = transport.serverOf(key)
    this.broken ??= []
    for (let each = this.brokenBefore.next; each; each = each.next)
      if (each.server === server) this.broken.push(each)
    this.brokenBefore = transport.lastBroken
  }

  /** Whether a connection broke after the command was sent on it. The server may have applied the command. */
  get connectionBroke(): boolean {
    return this.broken !== undefined
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
