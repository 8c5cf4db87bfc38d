import { fairFour, fairIdle, fairSixteen } from './fair'
import type { Group } from './group'
import { held } from './held'
import { latch } from './latch'
import { several } from './members'
import { oneCaller } from './one-caller'
import { semaphoreFour, semaphoreOne } from './semaphore'
import { token } from './token'

export const GROUPS: readonly Group[] = [
  oneCaller,
  several,
  fairFour,
  fairSixteen,
  fairIdle,
  token,
  semaphoreOne,
  semaphoreFour,
  held,
  latch,
]
