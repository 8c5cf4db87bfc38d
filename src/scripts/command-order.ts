/** Where a command stands among all that its client sent and was answered. */
export interface CommandOrder {
  /** The number of the copy that was answered, and that of its answer. */
  readonly sentAs: number
  readonly answeredAs: number
  /** Whether it went by the connection that waits for replicas. A connection keeps the order of its commands, two do not. */
  readonly isAcknowledging: boolean
}

/** Whether a server surely ran a command before another one, which was answered later. */
export function ranBefore(first: CommandOrder, second: CommandOrder): boolean {
  if (first.answeredAs < second.sentAs) return true
  return first.isAcknowledging === second.isAcknowledging && first.sentAs < second.sentAs
}

/** The client answers itself. */
export const NO_COMMAND: CommandOrder = { sentAs: 0, answeredAs: 0, isAcknowledging: false }
