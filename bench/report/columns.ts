export interface Column {
  readonly title: string
  /** Digits after the point. */
  readonly digits: number
}

/** What the figures are called, and how exactly they are worth showing. */
export const COLUMNS: Readonly<Record<string, Column>> = {
  sectionsPerSecond: { title: 'sections/s', digits: 0 },
  ofLimit: { title: 'of the limit', digits: 2 },
  ofJava: { title: 'of Java', digits: 2 },
  waitP50Ms: { title: 'wait p50 ms', digits: 2 },
  waitP99Ms: { title: 'p99 ms', digits: 1 },
  waitMaxMs: { title: 'max ms', digits: 1 },
  waitP99Turns: { title: 'p99 in turns', digits: 1 },
  leastFlowShare: { title: 'least flow', digits: 2 },
  overtakenShare: { title: 'overtaken', digits: 2 },
  leastProcessShare: { title: 'least process', digits: 2 },
  clientCommandsPerSection: { title: 'client commands/section', digits: 2 },
  serverCommandsPerSection: { title: 'with scripts’', digits: 1 },
  messagesPerSection: { title: 'messages', digits: 2 },
}
