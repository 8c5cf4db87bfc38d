/** Warns that a caller has waited for a long time for permits of a semaphore that does not exist. */
export function warnOfNoSemaphore(subject: string, clientId: string): void {
  process.emitWarning(
    `A caller has waited for 5 s for ${subject}, and there is no such semaphore (client ${clientId}): no client has set its ` +
      'permits, or it was deleted or has expired. Call trySetPermits() before the first acquisition.',
    { code: 'RLOCK_NO_SUCH_SEMAPHORE' },
  )
}
