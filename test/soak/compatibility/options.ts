import { parseArgs } from 'node:util'
import { chosen, wholeOption } from '../../kit/cli'
import { PARTS, type Part } from './parts'

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
