// npx tsx bench/pairs/channels.ts: what the diagnostics channels cost without a subscriber. One process loads this tree twice, and twice
// with the channels cut out, and takes locks with each in turns of some ms: so load of the machine meets all alike. Writes
// bench/results/channels.json and a table into docs/evidence/cycle.md. Some three minutes.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redisson } from '../../src'
import { removeWithThisProcess } from '../../test/kit/servers/left-behind'
import { startStandalone } from '../../test/kit/servers/standalone'
import { liveLine } from '../../test/kit/terminal/live-line'
import { describeMachine } from '../driver/machine'
import { buildPackage } from '../driver/programs'
import { fillRegions } from '../report/regions'
import { ARMS, type Arm, type ChannelsResults, channelsTable, ratioOf } from './channels-page'
import { copyBuild } from './without-channels'

const ROOT = join(__dirname, '../..')
const COMMAND = 'npx tsx bench/pairs/channels.ts'
const ROUNDS = 1_200
const WARM_UP = 150

interface Scenario {
  readonly title: string
  /** Cycles of one turn. */
  readonly cycles: number
  turn(client: Redisson, arm: Arm): Promise<void>
}

const SCENARIOS: readonly Scenario[] = [
  {
    title: 'a lock, one caller',
    cycles: 30,
    async turn(client, arm) {
      const lock = client.getLock(`lock:${arm}`)
      for (let each = 0; each < 30; each++) await (await lock.acquire()).unlock()
    },
  },
  {
    title: '64 locks, 64 callers',
    cycles: 64,
    async turn(client, arm) {
      const cycle = async (at: number) => (await client.getLock(`locks:${arm}:${at}`).acquire()).unlock()
      await Promise.all(Array.from({ length: 64 }, (_, at) => cycle(at)))
    },
  },
  {
    title: 'a permit, one caller',
    cycles: 30,
    async turn(client, arm) {
      const semaphore = client.getPermitExpirableSemaphore(`permits:${arm}`)
      for (let each = 0; each < 30; each++) await (await semaphore.acquirePermit()).release()
    },
  },
]

async function clientOf(arm: Arm, redis: string): Promise<Redisson> {
  const folder = join(mkdtempSync(join(tmpdir(), 'rlock-channels-')), 'rlock')
  removeWithThisProcess(join(folder, '..'))
  copyBuild(folder, { withoutChannels: arm.startsWith('without') })
  const { Redisson: Built } = createRequire(join(folder, 'package.json'))('./dist/index.js')
  const client: Redisson = await Built.create({ redis })
  await client.getPermitExpirableSemaphore(`permits:${arm}`).trySetPermits(1)
  return client
}

async function run(): Promise<void> {
  // In development each acquisition notes its place in the code.
  process.env.NODE_ENV = 'production'
  const line = liveLine()
  const machine = describeMachine()
  line.show('building')
  buildPackage()
  const server = await startStandalone()
  const clients = {} as Record<Arm, Redisson>
  try {
    for (const arm of ARMS) clients[arm] = await clientOf(arm, server.url)
    const scenarios: ChannelsResults['scenarios'][number][] = []
    for (const scenario of SCENARIOS) {
      const found: Record<Arm, number>[] = []
      for (let round = -WARM_UP; round < ROUNDS; round++) {
        if (round % 50 === 0) line.show(`${scenario.title}: round ${round} of ${ROUNDS}`)
        const measured = await measureRound(scenario, clients, round + WARM_UP)
        if (round >= 0) found.push(measured)
      }
      const cpuUs = (arm: Arm) => ratioOf(found.map((each) => each[arm])).median
      scenarios.push({
        title: scenario.title,
        cpuUs: (cpuUs('now') + cpuUs('again')) / 2,
        cost: ratioOf(
          found.map(({ now, again, without, withoutAgain }) => (now + again) / (without + withoutAgain)),
        ),
        noise: [
          ratioOf(found.map(({ again, now }) => again / now)),
          ratioOf(found.map(({ without, withoutAgain }) => withoutAgain / without)),
        ],
      })
    }
    const date = new Date().toISOString()
    const { version: node } = process
    const results: ChannelsResults = { command: COMMAND, date, machine, node, rounds: ROUNDS, scenarios }
    writeFileSync(join(ROOT, 'bench/results/channels.json'), `${JSON.stringify(results, null, 2)}\n`)
    const content = channelsTable(results)
    fillRegions(join(ROOT, 'docs/evidence/cycle.md'), (name) => (name === 'channels' ? content : undefined))
    line.clear()
    console.log(content)
  } finally {
    line.clear()
    await Promise.all(Object.values(clients).map((client) => client.shutdown({ timeout: 0 })))
    await server.stop()
  }
}

/** CPU of this process in µs a cycle. The arms change their places from round to round, through all orders. */
async function measureRound(
  { cycles, turn }: Scenario,
  clients: Readonly<Record<Arm, Redisson>>,
  round: number,
): Promise<Record<Arm, number>> {
  const measured = {} as Record<Arm, number>
  const turned = ARMS.map((_, at) => ARMS[(at + round) % ARMS.length]!)
  for (const arm of round % 2 === 0 ? turned : turned.reverse()) {
    const before = process.cpuUsage()
    await turn(clients[arm], arm)
    const { user, system } = process.cpuUsage(before)
    measured[arm] = (user + system) / cycles
  }
  return measured
}

run().then(
  () => process.exit(0),
  (error: Error) => {
    console.error(`The run failed: ${error.stack}`)
    process.exit(1)
  },
)
