/** What ownership asks of a hold that it stores for its caller. The engine above knows the rest. */
export interface OwnedHold {
  readonly lockId: string
  /** The logical thread that acquired it; none for an explicit caller. */
  readonly thread: object | undefined
  readonly levels: readonly { readonly thread: object | undefined }[]
}
