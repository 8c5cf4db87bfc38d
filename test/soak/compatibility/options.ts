import { parseArgs } from 'node:util'
import { chosen, wholeOption } from '../../kit/cli'

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

export interface CompatibilityOptions<T> {
  readonly subjects: readonly T[]
  readonly parts: readonly Part[]
  readonly jobs: number
  /** Name what there is, and run nothing. */
  readonly list: boolean
}

export const usage = (command: string, subjects: readonly { name: string; title: string }[]): string =>
  `usage: node --import tsx test/soak/compatibility/${command}.ts [--only a,b] [--parts a,b] [--jobs N] [--list]

Runs parts of the suite on each of these and writes what passed to docs/operations/compatibility.md:
${subjects.map(({ name, title }) => `  ${name.padEnd(5)} ${title}`).join('\n')}

  --only a,b   some of them; the columns of the others stay as they are
  --parts a,b  some parts: ${PARTS.map(({ name }) => name).join(', ')}; then the page stays as it is
  --jobs N     test files at a time (2)
  --list       what there is, without a run`

/** Undefined when help was asked for; throws when the arguments make no sense. */
export function parseOptions<T extends { name: string }>(
  args: string[],
  all: readonly T[],
): CompatibilityOptions<T> | undefined {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      parts: { type: 'string' },
      jobs: { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return undefined
  return {
    subjects: chosen('only', all, values.only?.split(',')),
    parts: chosen('parts', PARTS, values.parts?.split(',')),
    jobs: wholeOption('jobs', values.jobs, 2, 1, 32),
    list: values.list,
  }
}
