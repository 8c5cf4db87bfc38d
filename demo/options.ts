import { parseArgs } from 'node:util'

export interface DemoOptions {
  readonly seconds: number
  /** Flows in each Node process. */
  readonly flows: number
  readonly java: boolean
}

export const USAGE = `usage: npm run demo -- [--seconds N] [--flows N] [--no-java]

Three Node processes and one Java process take the same lock; then Redis is asked whether two ever overlapped.

  --seconds N   how long (10)
  --flows N     flows in each Node process (2)
  --no-java     Node processes only`

/** Undefined when help was asked for; throws when the arguments make no sense. */
export function parseOptions(args: string[]): DemoOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '10' },
      flows: { type: 'string', default: '2' },
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
  return { seconds, flows, java: !values['no-java'] }
}
