export interface Column {
  readonly title: string
  /** Digits after the point. */
  readonly digits: number
}

const atEachCount = (prefix: string, what: string, digits: number) =>
  Object.fromEntries(
    [1, 2, 4, 8, 16].map((count) => [`${prefix}${count}`, { title: `${what} ${count}`, digits }]),
  )

/** What the figures are called, and how exactly they are worth showing. */
export const COLUMNS: Readonly<Record<string, Column>> = {
  sectionsPerSecond: { title: 'sections/s', digits: 0 },
  ofLimit: { title: 'of the limit', digits: 2 },
  ofJava: { title: 'of Java', digits: 2 },
  waitP50Ms: { title: 'wait p50 ms', digits: 2 },
  waitP99Ms: { title: 'p99 ms', digits: 1 },
  waitMaxMs: { title: 'max ms', digits: 1 },
  waitP99Turns: { title: 'p99 in turns', digits: 1 },
  leastCallerShare: { title: 'least caller', digits: 2 },
  overtakenShare: { title: 'overtaken', digits: 2 },
  leastProcessShare: { title: 'least process', digits: 2 },
  clientCommandsPerSection: { title: 'client commands/section', digits: 2 },
  serverCommandsPerSection: { title: 'with scripts’', digits: 1 },
  messagesPerSection: { title: 'messages', digits: 2 },
  handoffP50Ms: { title: 'p50 ms', digits: 2 },
  handoffP99Ms: { title: 'p99 ms', digits: 2 },
  handoffRoundTrips: { title: 'p50 in round trips', digits: 1 },
  ofJavaHandoff: { title: 'of Java’s', digits: 2 },
  roundTripMs: { title: 'round trip ms', digits: 2 },
  idleCommandsPerSecond: { title: 'commands/s in all', digits: 1 },
  heapPerWaiter: { title: 'heap/waiter, bytes', digits: 0 },
  serverCpu: { title: 'CPU of the server', digits: 2 },
  serverUsPerSection: { title: 'server µs/section', digits: 0 },
  clientUsPerSection: { title: 'client µs/section', digits: 0 },
  clientCpu: { title: 'CPU of the client', digits: 2 },
  heldLocks: { title: 'locks', digits: 0 },
  renewalCommandsPerSecond: { title: 'commands/s', digits: 0 },
  delayP99Ms: { title: 'event loop delay p99 ms', digits: 1 },
  delayMaxMs: { title: 'max ms', digits: 1 },
  heapPerLock: { title: 'heap/lock, bytes', digits: 0 },
  takenPerSecond: { title: 'taken/s', digits: 0 },
  lastP50Ms: { title: 'last one p50 ms', digits: 2 },
  lastMaxMs: { title: 'max ms', digits: 1 },
  leastShareAt0: { title: 'least at 0 ms', digits: 2 },
  leastShareAt1: { title: 'at 1 ms', digits: 2 },
  leastShareAt5: { title: 'at 5 ms', digits: 2 },
  leastWriterShareAt0: { title: 'least writer at 0 ms', digits: 2 },
  leastWriterShareAt1: { title: 'at 1 ms', digits: 2 },
  leastWriterShareAt5: { title: 'at 5 ms', digits: 2 },
  sectionsPerSecondAt5: { title: 'sections/s at 5 ms', digits: 0 },
  ...atEachCount('commandsAt', 'commands at', 1),
  ...atEachCount('rateAt', 'sections/s at', 0),
}
