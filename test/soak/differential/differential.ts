// Whether the in-memory server does what Redis does: npm run test:differential -- [--calls N] [--seed N] [--report]

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import { type Comparison, compare } from '../../../packages/testing/test/differential/comparison'
import { optionsOrExit, wholeOption } from '../../kit/cli'
import { startStandalone, stopShared } from '../../kit/servers/index'

const USAGE = `usage: npm run test:differential -- [--calls N] [--seed N] [--report]

Sends random calls of every script to a Redis of its own and to the in-memory server, and compares replies, errors, keys
and times to live. Ends with 1 at the first difference, and where a script is not among the calls.

  --calls N   how many calls (100000)
  --seed N    another one makes other calls (16)
  --report    writes the result to docs/evidence/in-memory.md`

const PAGE = join(__dirname, '../../../docs/evidence/in-memory.md')
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
    if (report) writeFileSync(PAGE, page(`Redis ${version}`, { calls, seed }, found))
    return true
  } finally {
    redis.disconnect()
    await server.stop()
    await stopShared()
  }
}

function page(
  server: string,
  { calls, seed }: { calls: number; seed: number },
  { scripts }: Comparison,
): string {
  const rows = [...scripts].map(([name, count]) => `| ${name} | ${count.calls} | ${count.errors} |`)
  return `# The in-memory server beside Redis

<!-- Written by npm run test:differential. Do not edit. -->

\`npm run test:differential -- --calls ${calls} --seed ${seed} --report\` wrote this page.

${server} and the server of [\`@rlock/testing\`](../guides/testing.md) got the same ${calls.toLocaleString('en')} calls. All
replies, errors, keys and times to live agreed. Times may differ by up to two seconds, because the calls come one after the
other. A call has keys and arguments of a real client, of which some are replaced at random. Beside the calls keys get other
types, counts and lives.

| script | calls | of which refused with an error |
| --- | --- | --- |
${rows.join('\n')}
`
}

main(optionsOrExit(parseOptions, USAGE)).then(
  (agrees) => process.exit(agrees ? 0 : 1),
  (error) => {
    console.error(error)
    process.exit(1)
  },
)
