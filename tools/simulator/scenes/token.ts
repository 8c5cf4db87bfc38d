import { sectionsOf } from './sections'

export const token = sectionsOf({
  name: 'token',
  about: 'one or two token locks',
  kind: 'token',
  lock: (redisson, name) => redisson.getTokenLock(name),
  mayReenter: false,
})
