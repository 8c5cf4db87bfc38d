import type { Redis } from 'ioredis'
import type { RedissonOptions } from '../../../src/index'

/** A server that declines for as long as we like. */
export interface Trouble {
  readonly source: RedissonOptions['redis']
  /** Looks at the locks once the trouble is over. */
  readonly admin: Redis
  /** Names whose locks meet the trouble. */
  newName(): string
  begin(): Promise<void>
  end(): Promise<void>
  stop(): Promise<void>
}
