import type { Scene } from '../scene'
import { fair } from './fair'
import { fenced } from './fenced'
import { latch } from './latch'
import { mixture } from './mixture'
import { nonReentrant } from './non-reentrant'
import { permits } from './permits'
import { plain } from './plain'
import { readWrite } from './read-write'
import { runOnce } from './run-once'
import { semaphore } from './semaphore'
import { spin } from './spin'
import { token } from './token'

export const scenes: readonly Scene[] = [
  ...[plain, readWrite, fair, fenced, nonReentrant, spin, token],
  ...[semaphore, permits, latch, runOnce, mixture],
]
