import { sectionsOf } from './sections'

export const nonReentrant = sectionsOf({
  name: 'non-reentrant',
  about: 'one or two non-reentrant locks',
  kind: 'non-reentrant',
  lock: (redisson, name) => redisson.getNonReentrantLock(name),
  mayReenter: false,
})
