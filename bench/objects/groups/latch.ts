import { measureLatch } from '../../driver/latch'
import type { Subject } from '../../subjects/catalogue'
import { JAVA, OBJECTS } from '../subjects'
import type { Arm, Group } from './group'

const SETUP = { processes: 4, waiters: 250 }

function arm(name: string, title: string, subject: Subject): Arm {
  return { name, title, subject, measure: (measuring) => measureLatch(subject, SETUP, measuring) }
}

export const latch: Group = {
  name: 'latch',
  title: '1,000 waiters in 4 processes, from zero to the last one notified',
  rounds: 3,
  columns: ['lastP50Ms', 'lastMaxMs'],
  arms: [arm('latch', 'count-down latch', OBJECTS), arm('java', 'Java Redisson', JAVA)],
}
