// Prints what the built package costs to import beyond ioredis, which it needs: the median of nine processes for each
// way, alternately, since the load of the machine changes from one second to the next. CPU time is the steadier figure.
import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROUNDS = 9
const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** What one process pays, in ms: for ioredis, and then for the package. */
const LOADED = {
  require: `first(); require('ioredis'); second(); require('rlock'); third()`,
  import: `first(); await import('ioredis'); second(); await import('rlock'); third()`,
}

const measuring = (body) => `
  const at = []
  const mark = () => {
    const { user, system } = process.cpuUsage()
    at.push([performance.now(), (user + system) / 1000])
  }
  const first = mark, second = mark
  const third = () => {
    mark()
    console.log(JSON.stringify([0, 1].map((step) => at[step + 1].map((ms, kind) => ms - at[step][kind]))))
  }
  ${body}`

const samples = { require: [], import: [] }
for (let round = 0; round < ROUNDS; round++)
  for (const [way, body] of Object.entries(LOADED)) {
    const type = way === 'import' ? 'module' : 'commonjs'
    const args = [`--input-type=${type}`, '--eval', measuring(body)]
    samples[way].push(JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' })))
  }

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)].toFixed(1)

for (const [way, rounds] of Object.entries(samples)) {
  const figure = (step, kind) => median(rounds.map((round) => round[step][kind]))
  console.log(
    `${way}: ioredis ${figure(0, 0)} ms (CPU ${figure(0, 1)}), rlock ${figure(1, 0)} ms more (CPU ${figure(1, 1)})`,
  )
}
