/**
 * The numbers that a script answers which releases a hold, by force or not. The answer is one of them, or a
 * list of one and a value: see `lua/lock/release.lua`.
 */
export const ANSWER = { notHeld: 0, reduced: 1, freed: 2, freedUnpublished: 3, otherLease: 4 } as const

/** The answer to a release. */
export type ReleaseReply =
  /** This hold was not on the server: nothing was changed. */
  | { readonly result: 'not-held' }
  /**
   * Other levels of this hold remain, and its lease ends at `leaseEnd` by the server's clock, in ms.
   * Undefined: it has ended, and other holds remain.
   */
  | { readonly result: 'reduced'; readonly leaseEnd: number | undefined }
  /** The lease ends at another time than the client knew; nothing was changed. */
  | { readonly result: 'other-lease'; readonly leaseEnd: number }
  /**
   * Waiters may enter. `notified` is how many clients were notified, 0 also where the script does not say it;
   * undefined: the server refused PUBLISH.
   */
  | { readonly result: 'freed'; readonly notified: number | undefined }

/** The answer where the key is gone or holds something else. */
export const NOT_HELD: ReleaseReply = { result: 'not-held' }

/** The answers that are one number, by that number. */
export const PLAIN_REPLIES: Readonly<Record<number, ReleaseReply>> = {
  [ANSWER.notHeld]: NOT_HELD,
  [ANSWER.reduced]: { result: 'reduced', leaseEnd: undefined },
  [ANSWER.freed]: { result: 'freed', notified: 0 },
  [ANSWER.freedUnpublished]: { result: 'freed', notified: undefined },
}
