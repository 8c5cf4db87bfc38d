/** The names of an object, in this client and in Redis. */
export interface ObjectNames {
  /** Which kind of object it is, for events and lists: `lock`, `read`, `write` and so on. */
  readonly kind: string
  /** The name as the user knows it. */
  readonly name: string
  /** Identifies it within the client; another one where an object has several queues. */
  readonly objectId: string
  /**
   * Its id, and those of the queues and holds on the same object: these holds keep its waiters out, and their
   * ends wake them.
   */
  readonly relatedIds: readonly string[]
  readonly key: string
  readonly channel: string
}
