import type { Redis } from 'ioredis'
import type { RCountDownLatch, RPermitExpirableSemaphore, RRateLimiter, RSemaphore } from '../../../src/index'
import type { ScriptName } from '../../../src/scripts/script'

/** The objects of one case, all of one name of their own. */
export interface Scene {
  readonly redis: Redis
  readonly name: string
  readonly semaphore: RSemaphore
  readonly permits: RPermitExpirableSemaphore
  readonly latch: RCountDownLatch
  readonly limiter: RRateLimiter
  /** What `arrange` took. */
  ids: string[]
}

export interface Case {
  readonly script: ScriptName
  readonly state: string
  /** Without the fence a late copy of the call takes the permits again. */
  readonly needsFence?: true
  readonly arrange?: (scene: Scene) => Promise<unknown>
  /** The call; within it the script is sent. */
  readonly act: (scene: Scene) => Promise<unknown>
  /** What happens then, before a copy that was on its way arrives. */
  readonly afterwards?: (scene: Scene, answer: unknown) => Promise<unknown>
}

export function row(
  script: ScriptName,
  state: string,
  arrange: Case['arrange'],
  act: Case['act'],
  more: Partial<Case> = {},
): Case {
  return { script, state, ...(arrange && { arrange }), act, ...more }
}
