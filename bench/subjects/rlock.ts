import {
  type Lockable,
  Redisson,
  type RedissonOptions,
  type RLock,
  type RPermitExpirableSemaphore,
} from 'rlock'
import { type ObjectKind, RENEWED_PERMITS } from '../worker/protocol'
import type { Caller, ClientWork, OpenSubject } from './subject'

const MEMBERS_ON_ONE_SERVER = 3

/** Every object of rlock by the calls that take and release it directly: the plain lock by `acquire()` and `hold.unlock()`. */
export const rlock: OpenSubject = async (work) => {
  const others = 'others' in work ? (work.others ?? []) : []
  const places = 'redis' in work ? [work.redis, ...others] : [{ nodes: [...work.cluster] }]
  const clients = await Promise.all(places.map((redis) => create({ redis })))
  const callerOf = CALLERS[work.object ?? 'lock']
  return {
    exclusive: true,
    caller: (name) => callerOf(clients, name, work),
    readWriteCaller(name) {
      const lock = clients[0]!.getReadWriteLock(name)
      return { read: lockCaller(lock.readLock()), write: lockCaller(lock.writeLock()) }
    },
    latch: async (name) => void (await clients[0]!.getCountDownLatch(name).await()),
  }
}

/** The switch of the fast path is none of the public options. */
async function create(options: RedissonOptions): Promise<Redisson> {
  if (process.env.RLOCK_BENCH_FAST_PATH !== 'off') return await Redisson.create(options)
  const { createWith } = Redisson as unknown as {
    createWith(options: RedissonOptions, internals: { transport(each: object): object }): Promise<Redisson>
  }
  const transport = (each: object) => Object.assign(each, { usesFastPath: false })
  return await createWith.call(Redisson, options, { transport })
}

type CallerOf = (clients: readonly Redisson[], name: string, work: ClientWork) => Caller

const CALLERS: Readonly<Record<ObjectKind, CallerOf>> = {
  lock: ([client], name) => lockCaller(client!.getLock(name)),
  fair: ([client], name) => lockCaller(client!.getFairLock(name)),
  fenced: ([client], name) => lockCaller(client!.getFencedLock(name)),
  'non-reentrant': ([client], name) => lockCaller(client!.getNonReentrantLock(name)),
  token: ([client], name) => lockCaller(client!.getTokenLock(name)),
  'with-lock': ([client], name) => sectionCaller(client!.getLock(name)),
  multi: (clients, name) => lockCaller(clients[0]!.getMultiLock(...members(clients, name))),
  red: (clients, name) => lockCaller(clients[0]!.getRedLock(...members(clients, name))),
  semaphore([client], name) {
    const semaphore = client!.getSemaphore(name)
    return { acquire: () => semaphore.acquire(), release: () => semaphore.release() }
  },
  'expirable-semaphore': ([client], name) => permitCaller(client!.getPermitExpirableSemaphore(name)),
  // All permits are of one semaphore, however the callers are named.
  'renewed-permits'([client]) {
    const semaphore = client!.getPermitExpirableSemaphore(RENEWED_PERMITS)
    return {
      acquire: async () => void (await semaphore.acquirePermit()),
      release: () => Promise.reject(new Error('these permits are held')),
    }
  },
  latch() {
    throw new Error('a latch has no callers that take turns')
  },
}

/** One member on each server, or three on one. */
function members(clients: readonly Redisson[], name: string): Lockable[] {
  if (clients.length > 1) return clients.map((client) => client.getLock(name))
  return Array.from({ length: MEMBERS_ON_ONE_SERVER }, (_, index) => clients[0]!.getLock(`${name}:${index}`))
}

function lockCaller(lock: { acquire(): Promise<{ unlock(): Promise<void> }> }): Caller {
  let hold: { unlock(): Promise<void> }
  return {
    async acquire() {
      hold = await lock.acquire()
    },
    release: () => hold.unlock(),
  }
}

/** `withLock(fn)`: `fn` ends when the caller releases. */
function sectionCaller(lock: RLock): Caller {
  let leave: () => void
  let section: Promise<void>
  return {
    acquire: () =>
      new Promise((resolve, reject) => {
        section = lock.withLock(
          () =>
            new Promise<void>((end) => {
              leave = end
              resolve()
            }),
        )
        section.catch(reject)
      }),
    release() {
      leave()
      return section
    },
  }
}

function permitCaller(semaphore: RPermitExpirableSemaphore): Caller {
  let id: string
  return {
    async acquire() {
      id = await semaphore.acquire()
    },
    release: () => semaphore.release(id),
  }
}
