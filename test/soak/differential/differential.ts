// Whether the in-memory server does what Redis does: node --import tsx test/soak/differential/differential.ts [--calls N] [--seed N] [--report]

import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import { type Comparison, compare } from '../../../packages/testing/test/differential/comparison'
import { optionsOrExit, wholeOption } from '../../kit/cli'
import { fillRegions } from '../../kit/docs/regions'
import { startStandalone, stopShared } from '../../kit/servers/index'

const USAGE = `usage: node --import tsx test/soak/differential/differential.ts [--calls N] [--seed N] [--report]

Sends random calls of every script to a Redis of its own and to the in-memory server, and compares replies, errors, keys
and times to live. Ends with 1 at the first difference, and where a script is not among the calls.

  --calls N   how many calls (100000)
  --seed N    another one makes other calls (16)
  --report    writes the result into docs/evidence/reliability.md`

const PAGE = join(__dirname, '../../../docs/evidence/reliability.md')
const PROGRESS_EVERY = 10_000

interface Options {
  readonly calls: number
  readonly seed: number
  readonly report: boolean
}

function parseOptions(args: string[]): Options | undefined {
  const { values } = parseArgs({
    args,
    options: {
      calls: { type: 'string' },
      seed: { type: 'string' },
      report: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return undefined
  return {
    calls: wholeOption('calls', values.calls, 100_000, 1, 10_000_000),
    seed: wholeOption('seed', values.seed, 16, 0, 2 ** 31),
    report: values.report,
  }
}

async function main({ calls, seed, report }: Options): Promise<boolean> {
  const server = await startStandalone()
  const redis = new Redis(server.url)
  try {
    const version = /redis_version:(\S+)/.exec(await redis.info('server'))?.[1] ?? 'of an unknown version'
    const found = await compare({
      redis,
      seed,
      calls,
      onProgress: (done) => {
        if (done % PROGRESS_EVERY === 0) console.log(`${done} calls of ${calls}, no difference`)
      },
    })
    if (found.missing.length > 0) console.error(`not among the calls: ${found.missing.join(', ')}`)
    if (found.difference !== undefined) console.error(found.difference)
    const agrees = found.difference === undefined && found.missing.length === 0
    if (!agrees) return false
    console.log(`Redis ${version} and the in-memory server agree in ${calls} calls (seed ${seed})`)
    if (report) fillRegions(PAGE, 'differential', () => result(`Redis ${version}`, { calls, seed }, found))
    return true
  } finally {
    redis.disconnect()
    await server.stop()
    await stopShared()
  }
}

function result(
  server: string,
  { calls, seed }: { calls: number; seed: number },
  { scripts }: Comparison,
): string {
  const refused = [...scripts.values()].reduce((sum, { errors }) => sum + errors, 0)
  const number = (value: number) => value.toLocaleString('en-US')
  return (
    `${server} and the in-memory server got the same ${number(calls)} calls of ${scripts.size} scripts, of which ${number(refused)} were ` +
    `refused with an error. All replies, errors, keys and times to live agreed (\`node --import tsx test/soak/differential/differential.ts --calls ${calls} --seed ${seed}\`).`
  )
}

main(optionsOrExit(parseOptions, USAGE)).then(
  (agrees) => process.exit(agrees ? 0 : 1),
  (error) => {
    console.error(error)
    process.exit(1)
  },
)
