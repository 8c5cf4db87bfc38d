import type { AnyHold } from '../lock-section'
import { sectionsOf } from './sections'

export const fenced = sectionsOf({
  name: 'fenced',
  about: 'one or two fenced locks, whose tokens rise',
  kind: 'fenced',
  java: 'fenced',
  lock: (redisson, name) => redisson.getFencedLock(name),
  token: (hold) => (hold as AnyHold & { token: number }).token,
})
