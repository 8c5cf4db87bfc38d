/** What the program of the other runtimes shows: one row of the page each. The program names them. */
export const CHECKS = [
  { name: 'import', title: '`import` and `require` give the same classes' },
  { name: 'lock', title: '`lock()` and `unlock()`; another client is kept out meanwhile' },
  { name: 'notified', title: 'a waiter is notified of the release' },
  { name: 're-entry', title: '`withLock` within `withLock`, by its asynchronous context' },
  { name: 'renewal', title: 'a hold outlives the watchdog timeout' },
  { name: 'loss', title: 'a lost lock aborts the signal' },
  { name: 'shutdown', title: '`shutdown()`, after which the process ends by itself' },
] as const
