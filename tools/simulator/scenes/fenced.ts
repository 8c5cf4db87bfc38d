import type { LockHold } from '../../../src/api/lock-hold'
import { sectionsOf } from './sections'

export const fenced = sectionsOf({
  name: 'fenced',
  about: 'one or two fenced locks, whose tokens rise',
  kind: 'fenced',
  lock: (redisson, name) => redisson.getFencedLock(name),
  token: (hold) => (hold as LockHold & { token: number }).token,
})
