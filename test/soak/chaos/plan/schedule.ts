import { Random } from '../../../kit/random'
import { FAULTS, type FaultKind, SPECS, type TopologyName } from './catalogue'

/** One thing that will be broken, and when at the earliest. */
export interface PlannedFault {
  /** Milliseconds after the beginning; later where the one before it takes longer than planned. */
  readonly at: number
  readonly kind: FaultKind
  /** Which of the workers, where it is done to one. */
  readonly worker: number
  /** Which of the locks, where it is done to one or to its server. */
  readonly lock: number
  readonly lasts: number
  /** It begins while the one before it lasts. */
  readonly together: boolean
  /** Whatever else has to be drawn for it, from 1 to 100. */
  readonly dice: number
}

export interface ScheduleOptions {
  readonly seed: number
  readonly topology: TopologyName
  readonly lastsMs: number
  readonly nodeWorkers: number
  readonly locks: number
  readonly lockWatchdogTimeout: number
  readonly java: boolean
  /** Only these are drawn; all that the topology knows where there are none. */
  readonly kinds: readonly FaultKind[]
}

const QUIET_AT_FIRST = 2_000
const TOGETHER_PERCENT = 15

/** The faults of a run: the same for the same options. */
export function schedule(options: ScheduleOptions): PlannedFault[] {
  const { seed, topology, lastsMs, nodeWorkers, locks, lockWatchdogTimeout, java } = options
  const random = new Random(seed * 31 + topology.length)
  const kinds = (Object.keys(FAULTS) as FaultKind[]).filter((kind) => {
    const { on } = SPECS[kind]
    const isAsked = options.kinds.length === 0 || options.kinds.includes(kind)
    return isAsked && (!on || on.includes(topology)) && (java || !kind.endsWith('-java'))
  })
  if (kinds.length === 0) return []
  const bag = new Bag(kinds, random)
  const faults: PlannedFault[] = []
  let at = QUIET_AT_FIRST
  while (true) {
    const kind = bag.next()
    const { lasts, worker } = SPECS[kind]
    const [shortest, longest] = lasts?.(lockWatchdogTimeout) ?? [0, 0]
    const duration = random.between(Math.round(shortest), Math.round(longest))
    const last = faults.at(-1)
    const isAlone = SPECS[kind].alone || (last && SPECS[last.kind].alone)
    const together = random.chance(TOGETHER_PERCENT) && last !== undefined && !isAlone
    if (together) at = last.at + random.between(50, 500)
    if (at + duration > lastsMs) return faults
    faults.push({
      at,
      kind,
      worker: random.between(0, nodeWorkers - (worker === 'any' && java ? 0 : 1)),
      lock: random.between(0, locks - 1),
      lasts: duration,
      together,
      dice: random.between(1, 100),
    })
    at += duration + random.between(700, 2_500)
  }
}

/** Draws by weight, but each kind comes at the latest when all others have had their share. */
class Bag {
  private rest: FaultKind[] = []

  constructor(
    private readonly kinds: readonly FaultKind[],
    private readonly random: Random,
  ) {}

  next(): FaultKind {
    if (this.rest.length === 0)
      this.rest = this.kinds.flatMap((kind) => Array(Math.ceil(SPECS[kind].weight / 2)).fill(kind))
    const [kind] = this.rest.splice(this.random.between(0, this.rest.length - 1), 1)
    return kind!
  }
}
