/** What a test may leave open, in the order in which it is closed: a proxy is closed after the clients that it serves. */
const KINDS = ['process', 'client', 'proxy', 'server'] as const

interface Closer {
  readonly kind: (typeof KINDS)[number]
  close(): unknown
}

const closers: Closer[] = []
let later: Closer[] = []
let isKept = false

/** For a module that opens something for tests: it is closed after each test. */
export function closedAfterEach(kind: (typeof KINDS)[number], close: () => unknown): void {
  closers.push({ kind, close })
}

/** Something that is closed after the test, and may have been closed before. */
export function closedLater<T>(kind: (typeof KINDS)[number], opened: T, close: () => unknown): T {
  later.push({ kind, close })
  return opened
}

/** For a `describe` whose tests share what they opened, or that opens it in `before`: it is closed after the last of them. */
export function openUntilTheEnd(): void {
  before(() => {
    isKept = true
  })
  after(async () => {
    isKept = false
    await closeOpened()
  })
}

export async function closeOpened(): Promise<void> {
  const all = [...closers, ...later]
  later = []
  for (const kind of KINDS)
    await Promise.all(all.filter((each) => each.kind === kind).map(({ close }) => close()))
}

/** Loaded by mocha's `require`. The hooks of a suite run before this one. */
export const mochaHooks = {
  async afterEach(): Promise<void> {
    if (!isKept) await closeOpened()
  },
}
