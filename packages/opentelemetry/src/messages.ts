/** What the diagnostics channels of rlock carry, as docs/reference/events.md has it. */
interface Message {
  readonly address: string
  readonly name: string
  readonly kind: string
}

export interface Acquisition extends Message {
  readonly key: string
  /** These three come with the end. */
  readonly outcome: 'acquired' | 'timeout' | 'aborted' | 'refused' | 'error'
  /** In ms. */
  readonly duration: number
  readonly error?: unknown
}

export interface Hold extends Message {
  readonly key: string
  /** These four come with the end. */
  readonly outcome: 'released' | 'lost' | 'expired' | 'shutdown'
  /** In ms. */
  readonly heldFor: number
  readonly reason?: string
  readonly error?: unknown
}

export interface Renewal extends Message {
  readonly outcome: 'renewed' | 'gone' | 'failed' | 'overdue'
}

/** What follows the messages: the metrics, and the spans. */
export interface Observer {
  waits(acquisition: Acquisition): void
  waited(acquisition: Acquisition): void
  holds(hold: Hold): void
  held(hold: Hold): void
  renewed?(renewal: Renewal): void
  /** Nothing more will come: what is open is closed. */
  close(): void
}
