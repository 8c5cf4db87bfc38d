import { setTimeout as sleep } from 'node:timers/promises'
import type { LockHold, Redisson } from '../../../../src/index'
import type { HeldOrder, HeldResult } from '../messages'
import { footprint, heapUsed, phase, spread } from './measuring'
import { ask, reporting } from './parent'

const AT_ONCE = 500
const WARM_UP = 2_000

export async function held(
  open: (lockWatchdogTimeout: number) => Promise<Redisson>,
  order: HeldOrder,
): Promise<HeldResult> {
  const { count, leases, lease } = order
  const redisson = await open(lease)
  let holds: LockHold[] = []
  let doing = 'warming up'
  let [lost, renewalsFailed] = [0, 0]
  redisson.on('lockLost', () => lost++)
  redisson.on('renewalFailed', () => renewalsFailed++)
  const takeBy = (client: Redisson) => async (index: number) => {
    holds.push(await client.getLock(`endurance:${index}`).acquire())
  }
  const release = (index: number) => holds[index]!.unlock()

  const reported = reporting(() => `${doing}, ${holds.length} held, ${lost} lost`)
  // By a client whose leases are short, so that what renews is warm as well.
  const brief = await open(6_000)
  await spread(WARM_UP, AT_ONCE, takeBy(brief))
  await sleep(2_500)
  await spread(WARM_UP, AT_ONCE, release)
  await brief.shutdown()
  holds = []
  const before = await footprint(redisson)

  doing = 'acquiring'
  const acquiring = await phase(() => spread(count, AT_ONCE, takeBy(redisson)))
  const bytesAHold = (heapUsed() - before.heapUsed) / count
  await ask('renewalsFrom')
  const window = (leases * lease) / 1_000
  const started = performance.now()
  const renewing = await phase(async () => {
    for (let past = 0; past < window; past = (performance.now() - started) / 1_000) {
      doing = `renewing, ${past.toFixed(0)} of ${window.toFixed(0)} s`
      await sleep(Math.min(1_000, (window - past) * 1_000))
    }
  })
  const server = await ask('renewals')

  doing = 'catching up'
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lease / 3 + 100)
  // The first to be measured would be that very block.
  await new Promise((resolve) => setImmediate(resolve))
  const catchingUp = await phase(() => sleep(lease / 3))
  const stillHeld = holds.filter((hold) => hold.isHeld).length

  doing = 'releasing'
  const releasing = await phase(() => spread(count, AT_ONCE, release))
  holds = []
  const after = await footprint(redisson)
  reported()
  return {
    part: 'held',
    count,
    leases,
    lease,
    before,
    after,
    acquiring,
    renewing,
    catchingUp,
    releasing,
    lost,
    renewalsFailed,
    stillHeld,
    bytesAHold,
    server,
  }
}
