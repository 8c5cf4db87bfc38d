import type { Scene } from '../scene'
import { bare } from './bare'
import { branches } from './branches'
import { fair } from './fair'
import { fenced } from './fenced'
import { latch } from './latch'
import { levels } from './levels'
import { limited } from './limited'
import { mixedMulti } from './mixed-multi'
import { mixture } from './mixture'
import { multi } from './multi'
import { nonReentrant } from './non-reentrant'
import { permits } from './permits'
import { plain } from './plain'
import { rateLimiter } from './rate-limiter'
import { readWrite } from './read-write'
import { red } from './red'
import { runOnce } from './run-once'
import { semaphore } from './semaphore'
import { sharedObject } from './shared-object'
import { siblings } from './siblings'
import { spin } from './spin'
import { token } from './token'

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
