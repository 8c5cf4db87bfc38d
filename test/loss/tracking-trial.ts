// What client tracking tells a holder, and what it costs: node --import tsx test/loss/tracking-trial.ts [turns]
// Runs the built package, so `npm run build` first.
import { startStandalone } from '../servers'
import { costs, held, MODES } from './tracking/costs'
import { facts } from './tracking/facts'

const TURNS = Number(process.argv[2] ?? 40)
const HELD = 100_000

const HEADINGS = [
  'load',
  'tracked',
  'sections/s',
  'against none',
  'commands a section',
  'invalidations a section',
  'server µs a section',
  'client µs a section',
]

async function loads(url: string) {
  console.log(`| ${HEADINGS.join(' | ')} |\n|${' --- |'.repeat(HEADINGS.length)}`)
  const load = async (title: string, processes: number, flows: number, oneLock: boolean) => {
    const of = await costs(url, processes, flows, oneLock, TURNS)
    for (const mode of MODES) {
      const { sectionsASecond, ratio, commands, messages, serverMicros, clientMicros } = of[mode]
      const numbers = [
        sectionsASecond.toFixed(0),
        ratio.toFixed(3),
        commands.toFixed(2),
        messages.toFixed(2),
        serverMicros.toFixed(0),
        clientMicros.toFixed(0),
      ]
      console.log(`| ${[title, mode, ...numbers].join(' | ')} |`)
    }
  }
  await load('1 process, 1 flow, a lock of its own', 1, 1, false)
  await load('4 processes, 2 flows each, one lock', 4, 2, true)
  await load('8 processes, 1 flow each, one lock', 8, 1, true)
}

async function trial() {
  const server = await startStandalone()
  console.log(`${await facts(server.url)}\n`)
  await loads(server.url)
  const needs = await held(server.url, HELD)
  console.log(`\n${HELD} held locks, for each of them:`)
  for (const mode of MODES) {
    const { bytes, cpu } = needs[mode]
    console.log(`tracked ${mode}: ${bytes.toFixed(0)} bytes, ${cpu.toFixed(1)} µs of the server a renewal`)
  }
  await server.stop()
}

trial().then(
  () => process.exit(),
  (error) => {
    console.error(error)
    process.exit(1)
  },
)
