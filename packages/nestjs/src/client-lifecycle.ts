import { Logger, type OnApplicationShutdown } from '@nestjs/common'
import type { RedissonClient } from 'rlock'

/** Starts and ends the client of an application. */
export class ClientLifecycle implements OnApplicationShutdown {
  constructor(
    readonly redisson: RedissonClient,
    /** Absent: the client belongs to the caller, and is not shut down. */
    private readonly shutdownTimeout?: number,
  ) {}

  /** It does not run in `onModuleDestroy`: at that time requests and jobs still run, and their releases would fail. */
  async onApplicationShutdown(): Promise<void> {
    if (this.shutdownTimeout !== undefined) await this.redisson.shutdown({ timeout: this.shutdownTimeout })
  }
}

/** Sends the events of a client to Nest's logger. */
export function logEventsOf(redisson: RedissonClient): void {
  const logger = new Logger('Redisson')
  redisson.on('error', (error) => logger.warn(error.message))
  redisson.on('renewalFailed', ({ lockName, error }) => {
    const reason = (error as Error)?.message ?? error
    logger.warn(`The renewal of the lock ${JSON.stringify(lockName)} failed: ${reason}`)
  })
  redisson.on('lockLost', ({ error }) => logger.error(error.message))
}
