/** Warns, once for each client, when code takes a lock in a logical thread that has ended: no thread owns that hold. */
export class EndedThreadWarning {
  private warned = false

  constructor(private readonly clientId: string) {}

  lockTaken(quotedName: string): void {
    if (this.warned) return
    this.warned = true
    process.emitWarning(
      `The lock ${quotedName} was taken in a logical thread that has ended (client ${this.clientId}): nothing ` +
        're-enters it, and unlock() finds it only through the same lock object. A thread ends when the function given ' +
        'to run() or withLock() has settled; in Express, redisson.run(next) is over before the handler runs. Use ' +
        'withLock(), or acquire() and unlock() of its hold, or run() around the handler, to last until its work is done.',
      { code: 'RLOCK_THREAD_ENDED' },
    )
  }
}
