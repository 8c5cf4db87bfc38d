import { randomBytes } from 'node:crypto'
import { processState } from '../ownership/process-state'

const POOLED = 4_096
/**
 * Random bytes for the next ids. To read a few bytes at a time from the system costs more than the rest of a
 * try.
 */
let pool = Buffer.alloc(0)
let used = 0

/**
 * A random number from 0 up to 1. All randomness of the package comes from this file, so that a simulation
 * can provide it.
 */
export function random(): number {
  return processState.simulated?.random() ?? Math.random()
}

/** This many random bytes, at most 4096, as hexadecimal digits. */
export function randomHex(bytes: number): string {
  const { simulated } = processState
  if (simulated)
    return Buffer.from(Array.from({ length: bytes }, () => simulated.random() * 256)).toString('hex')
  if (used + bytes > pool.length) {
    pool = randomBytes(POOLED)
    used = 0
  }
  used += bytes
  return pool.toString('hex', used - bytes, used)
}
