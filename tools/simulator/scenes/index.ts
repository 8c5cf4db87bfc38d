import type { Scene } from '../scene'
import { bare } from './bare'
import { branches } from './branches'
import { latch } from './latch'
import { levels } from './levels'
import { limited } from './limited'
import { fair, fenced, multi, nonReentrant, plain, readWrite, red, spin, token } from './locks'
import { mixedMulti } from './mixed-multi'
import { mixture } from './mixture'
import { permits } from './permits'
import { rateLimiter } from './rate-limiter'
import { runOnce } from './run-once'
import { semaphore } from './semaphore'
import { sharedObject } from './shared-object'
import { siblings } from './siblings'

export const scenes: readonly Scene[] = [
  ...[
    plain,
    readWrite,
    fair,
    fenced,
    nonReentrant,
    spin,
    token,
    multi,
    red,
    siblings,
    branches,
    levels,
    limited,
    mixedMulti,
  ],
  ...[semaphore, permits, latch, runOnce, mixture, bare, sharedObject, rateLimiter],
]
