import { createRequire } from 'node:module'
import type * as Ioredis from 'ioredis'

/** The very ioredis that rlock runs on, whichever the peers have. */
export const { Redis, Cluster } = createRequire(require.resolve('rlock'))('ioredis') as typeof Ioredis
