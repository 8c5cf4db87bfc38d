// npx tsx bench/pairs/channels.ts: what the diagnostics channels cost without a subscriber. One process loads this tree twice, and twice
// with the channels cut out, and takes locks with each in turns of some ms: so load of the machine meets all alike. Writes
// bench/results/channels.json and a table into docs/evidence/performance.md. Some three minutes.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fillRegions } from '../../test/kit/docs/regions'
import { liveLine } from '../../test/kit/terminal/live-line'
import { describeMachine } from '../driver/machine'
import { buildPackage } from '../driver/programs'
import { resultText } from '../report/result-text'
import { ROOT, temporary } from './built-folder'
import { type ChannelsResults, channelsTable } from './channels-page'
import { type Arm, type TurnScenario, Turns } from './turns'
import { copyBuild } from './without-channels'

const COMMAND = 'npx tsx bench/pairs/channels.ts'
const ROUNDS = 60

const SCENARIOS: readonly TurnScenario[] = [
  {
    name: 'a lock, one caller',
    cycles: 30,
    prepare(client, arm) {
      const lock = client.getLock(`lock:${arm}`)
      return async () => {
        for (let each = 0; each < 30; each++) await (await lock.acquire()).unlock()
      }
    },
  },
  {
    name: '64 locks, 64 callers',
    cycles: 64,
    prepare(client, arm) {
      const cycle = async (at: number) => (await client.getLock(`locks:${arm}:${at}`).acquire()).unlock()
      return async () => void (await Promise.all(Array.from({ length: 64 }, (_, at) => cycle(at))))
    },
  },
  {
    name: 'a permit, one caller',
    cycles: 30,
    async prepare(client, arm) {
      const semaphore = client.getPermitExpirableSemaphore(`permits:${arm}`)
      await semaphore.trySetPermits(1)
      return async () => {
        for (let each = 0; each < 30; each++) await (await semaphore.acquirePermit()).release()
      }
    },
  },
]

/** The arms called "other" have the channels cut out. */
function buildFor(arm: Arm): string {
  const folder = join(temporary(), 'rlock')
  copyBuild(folder, { withoutChannels: arm.startsWith('other') })
  return folder
}

async function run(): Promise<void> {
  const line = liveLine()
  const machine = describeMachine()
  line.show('building')
  buildPackage()
  const turns = await Turns.open(buildFor)
  try {
    const scenarios: ChannelsResults['scenarios'][number][] = []
    for (const scenario of SCENARIOS) {
      const { cpuUs, cpu, noise } = await turns.measure(scenario, ROUNDS, (round) =>
        line.show(`${scenario.name}: round ${round} of ${ROUNDS}`),
      )
      scenarios.push({ title: scenario.name, cpuUs, cost: cpu, noise })
    }
    const date = new Date().toISOString()
    const { version: node } = process
    const results: ChannelsResults = { command: COMMAND, date, machine, node, rounds: ROUNDS, scenarios }
    writeFileSync(join(ROOT, 'bench/results/channels.json'), resultText(results))
    const content = channelsTable(results)
    fillRegions(join(ROOT, 'docs/evidence/performance.md'), 'bench', (name) =>
      name === 'channels' ? content : undefined,
    )
    line.clear()
    console.log(content)
  } finally {
    line.clear()
    await turns.stop()
  }
}

run().then(
  () => process.exit(0),
  (error: Error) => {
    console.error(`The run failed: ${error.stack}`)
    process.exit(1)
  },
)
