// Prints what the built package costs to import beyond ioredis, which it needs: the median of the processes for each way,
// alternately, since the load of the machine changes from one second to the next. CPU time is the steadier figure.
//
//   node scripts/import-cost.mjs [--rounds=9] [another clone that is built …]
//
// measures this clone and the others in turn, and prints the ratios.
import { execFileSync } from 'node:child_process'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '9' } },
})
const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const clones = [root, ...positionals.map((directory) => resolve(directory))]

/** What one process pays, in ms: for ioredis, and then for the package. */
const LOADED = {
  require: `mark(); require('ioredis'); mark(); require('rlock'); mark()`,
  import: `mark(); await import('ioredis'); mark(); await import('rlock'); mark()`,
}

const measuring = (body) => `
  const at = []
  const mark = () => {
    const { user, system } = process.cpuUsage()
    at.push([performance.now(), (user + system) / 1000])
  }
  ${body}
  console.log(JSON.stringify([0, 1].map((step) => at[step + 1].map((ms, kind) => ms - at[step][kind]))))`

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]

for (const [way, body] of Object.entries(LOADED)) {
  const type = way === 'import' ? 'module' : 'commonjs'
  const samples = clones.map(() => [])
  for (let round = 0; round < Number(values.rounds); round++)
    for (const [at, cwd] of clones.entries()) {
      const args = [`--input-type=${type}`, '--eval', measuring(body)]
      samples[at].push(JSON.parse(execFileSync(process.execPath, args, { cwd, encoding: 'utf8' })))
    }
  const figures = samples.map((rounds) =>
    [0, 1].map((step) => [0, 1].map((kind) => median(rounds.map((round) => round[step][kind])))),
  )
  for (const [at, clone] of clones.entries()) {
    const [[ioredis, ioredisCpu], [rlock, rlockCpu]] = figures[at].map((step) =>
      step.map((ms) => ms.toFixed(1)),
    )
    const name = at === 0 ? way : `${way} of ${clone}`
    console.log(
      `${name}: ioredis ${ioredis} ms (CPU ${ioredisCpu}), rlock ${rlock} ms more (CPU ${rlockCpu})`,
    )
    if (at > 0) {
      const [time, cpu] = [0, 1].map((kind) => (figures[0][1][kind] / figures[at][1][kind]).toFixed(2))
      console.log(`${way}: this clone takes ${time} of its time (CPU ${cpu})`)
    }
  }
}
