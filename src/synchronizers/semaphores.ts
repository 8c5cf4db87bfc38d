import { prefixed } from '../redis/names'

/** The channel of both kinds of semaphores. */
export function semaphoreChannel(key: string): string {
  return prefixed('redisson_sc', key)
}

/** A caller has waited for long for permits, and there is no such semaphore. */
export function warnOfNoSemaphore(subject: string): void {
  process.emitWarning(
    `A caller has waited for 5 s for ${subject}, and there is no such semaphore: no client has set its permits, or it was ` +
      'deleted or has expired. Call trySetPermits() before the first acquisition.',
    { code: 'RLOCK_NO_SUCH_SEMAPHORE' },
  )
}
