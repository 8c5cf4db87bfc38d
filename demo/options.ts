import { parseArgs } from 'node:util'
import { numberOption, wholeOption } from '../test/kit/cli'

export interface DemoOptions {
  readonly seconds: number
  /** Callers in each Node process. */
  readonly callers: number
  readonly java: boolean
  readonly readWrite: boolean
  /** On the in-memory server, also where there is another. */
  readonly inMemory: boolean
  /** May install the distribution's packages to have a server. */
  readonly install: boolean
  /** Prints at the end what Prometheus would read of each Node process. */
  readonly metrics: boolean
}

export const USAGE = `usage: npm run demo -- [--read-write] [--seconds N] [--callers N] [--no-java] [--metrics] [--in-memory | --install]

Three Node processes and one Java process take the same lock; then Redis is asked whether two ever overlapped.
Without redis-server, valkey-server or a container engine, three clients of one process take it in memory.

  --read-write  they take a read-write lock: readers together, writers alone
  --seconds N   how long (10)
  --callers N   callers in each Node process (2); with --read-write those that read, beside one that writes
  --no-java     Node processes only
  --metrics     prints at the end what a scrape by Prometheus would see of each Node process
  --in-memory   in one process and in memory, also where a server could be had
  --install     on Debian and Ubuntu as root, installs the distribution's packages where there is no server`

/** Undefined when help was asked for; throws when the arguments make no sense. */
export function parseOptions(args: string[]): DemoOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string' },
      callers: { type: 'string' },
      'read-write': { type: 'boolean', default: false },
      'in-memory': { type: 'boolean', default: false },
      install: { type: 'boolean', default: false },
      metrics: { type: 'boolean', default: false },
      'no-java': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return undefined
  const seconds = numberOption('seconds', values.seconds, { least: 0.1, most: 3_600, otherwise: 10 })
  const callers = wholeOption('callers', values.callers, 2, 1, 100)
  const { install, metrics, 'in-memory': inMemory, 'no-java': noJava, 'read-write': readWrite } = values
  if (inMemory && install) throw new TypeError('--in-memory and --install exclude each other')
  return { seconds, callers, java: !noJava, readWrite, inMemory, install, metrics }
}
