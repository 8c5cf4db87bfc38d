import { Logger, type OnApplicationShutdown } from '@nestjs/common'
import type { RedissonClient } from '../index'

/** Starts and ends the client of an application. */
export class ClientLifecycle implements OnApplicationShutdown {
  private constructor(
    readonly redisson: RedissonClient,
    private readonly shutdownTimeout: number | undefined,
  ) {}

  static ofYours(redisson: RedissonClient): ClientLifecycle {
    return new ClientLifecycle(redisson, undefined)
  }

  static ofOurs(redisson: RedissonClient, shutdownTimeout: number, logEvents: boolean): ClientLifecycle {
    if (logEvents) log(redisson)
    return new ClientLifecycle(redisson, shutdownTimeout)
  }

  /** It does not run in `onModuleDestroy`: at that time requests and jobs still run, and their releases would fail. */
  async onApplicationShutdown(): Promise<void> {
    if (this.shutdownTimeout !== undefined) await this.redisson.shutdown({ timeout: this.shutdownTimeout })
  }
}

function log(redisson: RedissonClient) {
  const logger = new Logger('Redisson')
  redisson.on('error', (error) => logger.warn(error.message))
  redisson.on('renewalFailed', ({ lockName, error }) =>
    logger.warn(`The renewal of the lock ${JSON.stringify(lockName)} failed: ${messageOf(error)}`),
  )
  redisson.on('lockLost', ({ error }) => logger.error(error.message))
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
