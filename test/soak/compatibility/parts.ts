/** A part of the suite: one row of the page. */
export interface Part {
  readonly name: string
  /** What it proves, in the words of the page. */
  readonly title: string
  /** Folders of test/. */
  readonly folders: readonly string[]
}

export const PARTS: readonly Part[] = [
  { name: 'locks', title: 'each kind of lock, with the contract suites', folders: ['locks'] },
  { name: 'synchronizers', title: 'semaphores and the latch', folders: ['synchronizers'] },
  { name: 'scripts', title: 'the Lua scripts: sent twice, refused, out of memory', folders: ['scripts'] },
  {
    name: 'lost-replies',
    title: 'each script with each reply lost once, and late copies of commands',
    folders: ['faults/lost-replies', 'faults/late-copies'],
  },
  {
    name: 'connections',
    title: 'single server, Sentinel, cluster: connections, ACLs, TLS, pub/sub, moved slots',
    folders: ['redis'],
  },
]

/** The part that a test file belongs to. */
export function partOf(file: string, parts: readonly Part[] = PARTS): string | undefined {
  const path = file.replaceAll('\\', '/')
  return parts.find(({ folders }) => folders.some((folder) => path.includes(`/test/${folder}/`)))?.name
}

/** What mocha is to run for these parts. */
export const patternsOf = (parts: readonly Part[]): string[] =>
  parts.flatMap(({ folders }) => folders.map((folder) => `test/${folder}/**/*.test.ts`))
