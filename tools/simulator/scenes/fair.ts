import { sectionsOf } from './sections'

export const fair = sectionsOf({
  name: 'fair',
  about: 'one or two fair locks',
  kind: 'fair',
  java: 'fair',
  lock: (redisson, name) => redisson.getFairLock(name),
})
