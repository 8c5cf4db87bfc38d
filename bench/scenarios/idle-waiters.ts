import { measureIdleWaiters } from '../driver/idle-waiters'
import type { Scenario } from './scenario'

export const idleWaiters: Scenario = {
  name: 'idle-waiters',
  title: '1,000 waiters, 250 in each of 4 processes, on a lock that another process holds',
  columns: ['idleCommandsPerSecond', 'heapPerWaiter', 'serverCpu'],
  mostRounds: { quick: 1, full: 2 },
  takesPart: (subject, quick) => subject.kind !== 'limit' && !(quick && subject.resembles),
  measure: (subject, measuring) => measureIdleWaiters(subject, { processes: 4, waiters: 250 }, measuring),
}
