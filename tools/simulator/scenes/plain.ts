import { sectionsOf } from './sections'

export const plain = sectionsOf({
  name: 'plain',
  about: 'one or two plain locks',
  kind: 'lock',
  java: 'lock',
  lock: (redisson, name) => redisson.getLock(name),
})
