import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientInternals } from '../../../../src/client/client-internals'
import { Redisson, type RedissonOptions } from '../../../../src/index'
import type { LockPlan, ObjectPlan } from '../plan/objects'
import { Caller, type Surroundings } from '../worker/caller'
import type { AnyLock } from '../worker/locks'

/** Longer than it takes to be asked, shorter than a server is away that starts anew. */
const LEASE_MS = 4_000

/** A RedLock whose servers each have a client of their own. */
export class RedClients {
  readonly clients: Redisson[] = []

  private constructor(private readonly name: string) {}

  /** Resolves when all servers were reached once; some of them may be away at first. */
  static async connect(
    servers: readonly RedissonOptions['redis'][],
    name: string,
    lockWatchdogTimeout: number,
    internals: ClientInternals,
    stopping: () => boolean,
  ): Promise<RedClients> {
    const red = new RedClients(name)
    await Promise.all(
      servers.map(async (redis, at) => {
        while (!red.clients[at] && !stopping())
          try {
            red.clients[at] = await Redisson.createWith({ redis, lockWatchdogTimeout }, internals)
            red.clients[at]!.on('error', () => {})
          } catch {
            await sleep(200)
          }
      }),
    )
    return red
  }

  get isComplete(): boolean {
    return this.clients.length > 0 && [...this.clients].every(Boolean)
  }

  lock(): AnyLock {
    const [first] = this.clients
    return first!.getRedLock(...this.clients.map((client) => client.getLock(this.name)))
  }
}

/** As the callers of a plain lock: by its own key it excludes like one. */
export function redCallers(
  around: Surroundings,
  { name, callers }: Extract<ObjectPlan, { kind: 'red' }>,
  red: RedClients,
  seed: number,
): Caller[] {
  const plan: LockPlan = { name, kind: 'lock', sometimes: LEASE_MS, writers: callers, readers: 0 }
  return Array.from(
    { length: callers },
    (_, at) => new Caller(around, `${name}/${at + 1}`, plan, 'x', seed + at, red.lock()),
  )
}
