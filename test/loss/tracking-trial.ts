// What client tracking would tell a holder, and what it would cost: node --import tsx test/loss/tracking-trial.ts
// Runs the built package, so `npm run build` first.
import { startStandalone } from '../servers'
import { type Costs, costs, memory } from './tracking/costs'
import { facts } from './tracking/facts'

const PAIRS = Number(process.argv[2] ?? 15)

function line({ title, ratio, plain, tracked }: Costs): string {
  const each = (field: 'commands' | 'messages' | 'serverMicros' | 'clientMicros', digits = 0) =>
    `${plain[field].toFixed(digits)} → ${tracked[field].toFixed(digits)}`
  return `| ${[
    title,
    plain.sectionsASecond.toFixed(0),
    ratio.toFixed(3),
    each('commands', 2),
    each('messages', 2),
    each('serverMicros'),
    each('clientMicros'),
  ].join(' | ')} |`
}

async function trial() {
  const server = await startStandalone()
  const { url } = server
  console.log(`${await facts(url)}\n`)
  console.log(
    '| | sections/s plain | tracked / plain | commands a section | invalidations a section | server µs a section | client µs a section |',
  )
  console.log(line(await costs(url, '1 process, 1 flow, its own lock', 1, 1, false, PAIRS)))
  console.log(line(await costs(url, '1 process, 20 flows, one lock', 1, 20, true, PAIRS)))
  console.log(line(await costs(url, '4 processes, 2 flows each, one lock', 4, 2, true, PAIRS)))
  console.log(line(await costs(url, '12 processes, 1 flow each, one lock', 12, 1, true, PAIRS)))
  const { plain, tracked } = await memory(url, 100_000)
  console.log(
    `\n100,000 held locks: ${plain.toFixed(0)} → ${tracked.toFixed(0)} bytes of server memory a lock`,
  )
  await server.stop()
}

trial().then(
  () => process.exit(),
  (error) => {
    console.error(error)
    process.exit(1)
  },
)
