import { parseArgs } from 'node:util'

export interface DemoOptions {
  readonly seconds: number
  /** Flows in each Node process. */
  readonly flows: number
  readonly java: boolean
  readonly readWrite: boolean
}

export const USAGE = `usage: npm run demo -- [--read-write] [--seconds N] [--flows N] [--no-java]

Three Node processes and one Java process take the same lock; then Redis is asked whether two ever overlapped.

  --read-write  they take a read-write lock: readers together, writers alone
  --seconds N   how long (10)
  --flows N     flows in each Node process (2); with --read-write those that read, beside one that writes
  --no-java     Node processes only`

/** Undefined when help was asked for; throws when the arguments make no sense. */
export function parseOptions(args: string[]): DemoOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '10' },
      flows: { type: 'string', default: '2' },
      'read-write': { type: 'boolean', default: false },
      'no-java': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return undefined
  const seconds = Number(values.seconds)
  if (!(seconds > 0 && seconds <= 3600)) throw new RangeError('--seconds takes a number up to 3600')
  const flows = Number(values.flows)
  if (!(Number.isInteger(flows) && flows >= 1 && flows <= 100)) {
    throw new RangeError('--flows takes a whole number from 1 to 100')
  }
  return { seconds, flows, java: !values['no-java'], readWrite: values['read-write'] }
}
