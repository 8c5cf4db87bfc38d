import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Redisson } from '../../src'
import { startStandalone } from '../../test/kit/servers/standalone'

/** In the order in which they are loaded. Each build is there twice, which shows what is noise. */
export const ARMS = ['other', 'now', 'again', 'otherAgain'] as const
export type Arm = (typeof ARMS)[number]

export interface TurnScenario {
  readonly name: string
  /** Cycles of one turn. */
  readonly cycles: number
  /** Prepares what one arm repeats: a turn of some ms. */
  prepare(client: Redisson, arm: Arm): (() => Promise<void>) | Promise<() => Promise<void>>
}

/** A median of ratios, and between what it is with 95 % certainty. */
export interface Ratio {
  readonly median: number
  readonly low: number
  readonly high: number
}

export interface TurnsFound {
  /** CPU of this process with this build, in µs a cycle: the median. */
  readonly cpuUs: number
  /** Of the CPU in one round: this build to the other one. */
  readonly cpu: Ratio
  /** Of the sections in the same time. */
  readonly sections: Ratio
  /** Each build to itself, in CPU. */
  readonly noise: readonly [now: Ratio, other: Ratio]
}

/** Medians over the rounds. In each round all arms take turns of some ms, so load of the machine meets all of them alike. */
export class Turns {
  private constructor(
    private readonly clients: Readonly<Record<Arm, Redisson>>,
    readonly stop: () => Promise<void>,
  ) {}

  /** `folderOf`: a folder with the built package, another one for each arm, so that each arm has code of its own. */
  static async open(folderOf: (arm: Arm) => string): Promise<Turns> {
    // In development each acquisition notes its place in the code.
    process.env.NODE_ENV = 'production'
    const server = await startStandalone()
    const clients = {} as Record<Arm, Redisson>
    const stop = async () => {
      await Promise.all(Object.values(clients).map((client) => client.shutdown({ timeout: 0 })))
      await server.stop()
    }
    try {
      for (const arm of ARMS) {
        const { Redisson: Built } = createRequire(join(folderOf(arm), 'package.json'))('./dist/index.js')
        clients[arm] = await Built.create({ redis: server.url })
      }
      return new Turns(clients, stop)
    } catch (error) {
      await stop()
      throw error
    }
  }

  async measure(
    { cycles, prepare }: TurnScenario,
    rounds: number,
    onProgress: (round: number) => void = () => {},
  ): Promise<TurnsFound> {
    const turns = {} as Record<Arm, () => Promise<void>>
    for (const arm of ARMS) turns[arm] = await prepare(this.clients[arm], arm)
    const cpu: Record<Arm, number>[] = []
    const time: Record<Arm, number>[] = []
    for (let round = -Math.ceil(rounds / 8); round < rounds; round++) {
      onProgress(round)
      const used = nothing()
      const took = nothing()
      for (let turn = 0; turn < TURNS_A_ROUND; turn++) await measureTurns(turns, shuffled(), used, took)
      if (round < 0) continue
      cpu.push(used)
      time.push(took)
    }
    const cpuUs = (arm: Arm) => ratioOf(cpu.map((each) => each[arm])).median / cycles / TURNS_A_ROUND
    return {
      cpuUs: (cpuUs('now') + cpuUs('again')) / 2,
      cpu: ratioOf(cpu.map(({ now, again, other, otherAgain }) => (now + again) / (other + otherAgain))),
      sections: ratioOf(
        time.map(({ now, again, other, otherAgain }) => (other + otherAgain) / (now + again)),
      ),
      noise: [
        ratioOf(cpu.map(({ again, now }) => again / now)),
        ratioOf(cpu.map(({ other, otherAgain }) => otherAgain / other)),
      ],
    }
  }
}

/**
 * Of each arm in one round. The garbage collection comes every few turns, and doubles one of them. So a round has many turns, in
 * an order by chance: a fixed order would be in step with it, and one arm would pay for the others.
 */
const TURNS_A_ROUND = 20

function shuffled(): Arm[] {
  return ARMS.map((arm) => ({ arm, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ arm }) => arm)
}

function nothing(): Record<Arm, number> {
  return { other: 0, now: 0, again: 0, otherAgain: 0 }
}

/** Adds the CPU of this process in µs, and the time in ms. */
async function measureTurns(
  turns: Readonly<Record<Arm, () => Promise<void>>>,
  order: readonly Arm[],
  used: Record<Arm, number>,
  took: Record<Arm, number>,
): Promise<void> {
  for (const arm of order) {
    const started = performance.now()
    const before = process.cpuUsage()
    await turns[arm]()
    const { user, system } = process.cpuUsage(before)
    used[arm] += user + system
    took[arm] += performance.now() - started
  }
}

export function ratioOf(ratios: readonly number[]): Ratio {
  const sorted = [...ratios].sort((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  // The ranks between which the median of the whole population lies, by the normal approximation.
  const apart = 0.98 * Math.sqrt(sorted.length)
  const at = (rank: number) => sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(rank)))]!
  return { median: at(middle), low: at(middle - apart), high: at(middle + apart) }
}

export function shownRatio({ median, low, high }: Ratio): string {
  return `${median.toFixed(3)} (${low.toFixed(3)}–${high.toFixed(3)})`
}
