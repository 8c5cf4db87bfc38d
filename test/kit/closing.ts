/** What a test may leave open, in the order in which it is closed: a proxy is closed after the clients that it serves. */
const KINDS = ['process', 'client', 'proxy', 'server'] as const

const closers: { readonly kind: (typeof KINDS)[number]; close(): Promise<void> }[] = []
let isKept = false

/** For a module that opens something for tests: it is closed after each test. */
export function closedAfterEach(kind: (typeof KINDS)[number], close: () => Promise<void>): void {
  closers.push({ kind, close })
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
  for (const kind of KINDS)
    await Promise.all(closers.filter((each) => each.kind === kind).map(({ close }) => close()))
}

/** Loaded by mocha's `require`. The hooks of a suite run before this one. */
export const mochaHooks = {
  async afterEach(): Promise<void> {
    if (!isKept) await closeOpened()
  },
}
