import { sectionsOf } from './sections'

export const spin = sectionsOf({
  name: 'spin',
  about: 'one or two spin locks',
  kind: 'spin',
  lock: (redisson, name) => redisson.getSpinLock(name),
})
