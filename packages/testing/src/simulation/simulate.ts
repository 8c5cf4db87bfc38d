import { Redisson, type RedissonOptions } from 'rlock'
import { scriptMachine } from '../lua/script-machine'
import { type ClientLinks, simulatedSource } from './connections'
import { faultsOf, type SimulationFaults, type Target } from './faults'
import type { SimulatedProcess } from './process'
import { SimulatedServer } from './server'
import { World } from './world'

/** A client of a simulation lives in a process of its own, with a clock of its own. */
export interface SimulatedClient {
  readonly redisson: Redisson
  /** Resolves after this many ms by the clock of its process; never if the process was killed. */
  sleep(ms: number): Promise<void>
}

/** What the function of `simulate()` works with. */
export interface Simulation {
  /** Connects a client in a new process. Options are those of `Redisson.create()`, without `redis`. */
  client(options?: Omit<RedissonOptions, 'redis'>): Promise<SimulatedClient>
  /** Runs a command on the server: `redis('GET', 'stock')`. It costs no time, and no fault stops it. */
  redis(command: string, ...args: (string | number)[]): unknown
  readonly fault: SimulationFaults<SimulatedClient>
  /** Resolves after this many ms of virtual time, whatever happens to the clients. */
  sleep(ms: number): Promise<void>
  /** A random number from 0 up to 1 that follows from the seed. Do not use `Math.random()`. */
  random(): number
  /** The virtual time in ms since the begin. */
  now(): number
}

/** A run of `simulate()` failed. The message names the seed: the same seed fails again. */
export class SimulationError extends Error {
  override readonly name = 'SimulationError'
  readonly code = 'SIMULATION_FAILED'

  constructor(
    readonly seed: number,
    what: string,
    options: ErrorOptions,
  ) {
    super(`${what} (simulate() with seed ${seed} repeats this)`, options)
  }
}

const WAITS =
  'It can wait for clients and for sleep() only: a real timer, input or output and other promises from outside never come'

/** After this virtual time a run has hung, in ms. */
const LONGEST = 24 * 3_600_000

/**
 * Runs `fn` in a simulated world: clients of this package in processes of their own, one server with the real scripts, and virtual
 * time, in which hours pass at once. All delays follow from the seed, so a seed that fails once fails each time. Try many seeds.
 *
 * Code in `fn` waits by `sleep()` only: no timers, no input or output, no other promises from outside. Everything that is
 * undecided when `fn` has settled is dropped.
 *
 * Rejects with SimulationError, whose `cause` is the error: when `fn` rejects, when code throws or rejects without a handler, or
 * when `fn` waits and nothing is left to happen. Returns the value of `fn`.
 *
 * @example
 * ```ts
 * for (let seed = 1; seed <= 100; seed++)
 *   await simulate(seed, async ({ client, fault }) => {
 *     const { redisson, sleep } = await client()
 *     const hold = await redisson.getLock('order').acquire({ leaseTime: 1_000 })
 *     fault.restart(5_000)
 *     await sleep(2_000)
 *     expect(hold.isHeld).to.equal(false)
 *   })
 * ```
 */
export async function simulate<T>(seed: number, fn: (simulation: Simulation) => Promise<T>): Promise<T> {
  if (!Number.isSafeInteger(seed))
    throw new RangeError(`simulate expects a whole number as its seed, got ${seed}`)
  if (typeof fn !== 'function') throw new TypeError('simulate expects a function')
  const machine = await scriptMachine()
  const world = new World({ seed })
  const server = new SimulatedServer(world, 'server 1', machine)
  const unhandled = (error: unknown) => world.failed(error)
  process.on('unhandledRejection', unhandled)
  let value: { readonly of: T } | undefined
  try {
    const end = await world.run(async () => {
      value = { of: await fn(simulationOf(world, server)) }
    }, LONGEST)
    const [mishap] = world.mishaps
    if (mishap) throw new SimulationError(seed, mishap.error.message, { cause: mishap.error })
    if (end !== 'done' || !value)
      throw new SimulationError(
        seed,
        end === 'late'
          ? `The function did not settle within a virtual day. ${WAITS}`
          : `The function waits, and nothing is left to happen. ${WAITS}`,
        {},
      )
    return value.of
  } finally {
    process.off('unhandledRejection', unhandled)
  }
}

function simulationOf(world: World, server: SimulatedServer): Simulation {
  const targets = new Map<SimulatedClient, Target>()
  const chance = world.choices.stream('random')
  const clientIn = async (process: SimulatedProcess, options: Omit<RedissonOptions, 'redis'>) => {
    let links: ClientLinks | undefined
    const redis = simulatedSource(server, process, (opened) => {
      links = opened
    })
    const redisson = await Redisson.create({ ...options, redis })
    const client: SimulatedClient = { redisson, sleep: (ms) => process.sleep(ms) }
    targets.set(client, { process, links: links! })
    return client
  }
  const find = (client: SimulatedClient): Target => {
    const target = targets.get(client)
    if (!target) throw new TypeError('expected a client of this simulation: what client() resolved with')
    return target
  }
  let clients = 0
  return {
    client: (options = {}) => clientIn(world.process(`client ${++clients}`), options),
    redis: (command, ...args) => server.call(command, ...args),
    fault: faultsOf(world, server, find),
    sleep: (ms) => new Promise((resolve) => void world.in(ms, undefined, resolve)),
    random: () => chance.fraction(),
    now: () => world.time,
  }
}
