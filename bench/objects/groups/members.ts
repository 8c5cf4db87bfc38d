import { LOCK, OBJECTS } from '../subjects'
import { members, ONE_CALLER, turns } from './arms'
import type { Group } from './group'

export const several: Group = {
  name: 'members',
  title: 'One caller alone, locks of several members',
  rounds: 5,
  columns: [
    'sectionsPerSecond',
    'waitP50Ms',
    'waitP99Ms',
    'clientCommandsPerSection',
    'serverUsPerSection',
    'clientUsPerSection',
  ],
  arms: [
    turns('lock', 'plain lock', LOCK, ONE_CALLER),
    turns('multi-one-server', 'multi lock of 3 on one server', OBJECTS, { ...ONE_CALLER, object: 'multi' }),
    members('multi', 'multi lock of 3 servers', OBJECTS, { object: 'multi', servers: 3 }),
    members('red', 'red lock of 5 servers', OBJECTS, { object: 'red', servers: 5 }),
    members('red-stalled', 'red lock of 5 servers, one of them stopped', OBJECTS, {
      object: 'red',
      servers: 5,
      stalled: true,
    }),
  ],
}
