/** The part of a hold that this folder needs. The engine above defines the rest. */
export interface OwnedHold {
  readonly lockId: string
  /** The logical thread that acquired it; undefined for an explicit caller. */
  readonly thread: object | undefined
  readonly levels: readonly { readonly thread: object | undefined }[]
}
