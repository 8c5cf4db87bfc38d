import type { LockHold, Redisson } from '../../src'
import type { TurnScenario } from './turns'

type Cycle = () => Promise<unknown>

/** What single processes of `npm run bench:pairs` do, by the same names, in turns of some ms. */
export const TURN_SCENARIOS: readonly TurnScenario[] = [
  scenario('one-caller', 1, 30, (client, name) => cycleOf(client.getLock(name))),
  scenario('with-lock', 1, 30, (client, name) => {
    const lock = client.getLock(name)
    return () => lock.withLock(async () => {})
  }),
  scenario('fenced', 1, 30, (client, name) => cycleOf(client.getFencedLock(name))),
  scenario('token', 1, 30, (client, name) => cycleOf(client.getTokenLock(name))),
  scenario('non-reentrant', 1, 30, (client, name) => cycleOf(client.getNonReentrantLock(name))),
  scenario('many-locks-one-caller', 1, 64, (client, name) => {
    const cycles = Array.from({ length: 64 }, (_, at) => cycleOf(client.getLock(`${name}:${at}`)))
    let turn = 0
    return () => cycles[turn++ % cycles.length]!()
  }),
  scenario('64-on-one', 64, 2, (client, name) => cycleOf(client.getLock(name))),
  scenario('64-on-64', 64, 4, (client, name, caller) => cycleOf(client.getLock(`${name}:${caller}`))),
  scenario('read-write-16', 16, 10, (client, name, caller) => {
    const { readLock, writeLock } = sidesOf(client, name)
    let turn = caller
    return () => (turn++ % 10 < 9 ? readLock() : writeLock())
  }),
  scenario('fair-16', 16, 4, (client, name) => cycleOf(client.getFairLock(name))),
  scenario('multi-of-3', 1, 20, (client, name) =>
    cycleOf(client.getMultiLock(...[0, 1, 2].map((member) => client.getLock(`${name}:${member}`)))),
  ),
  scenario('semaphore-1', 1, 30, plainPermits),
  scenario('semaphore-64', 64, 4, plainPermits),
  scenario('expirable-1', 1, 30, expirablePermits),
  scenario('expirable-64', 64, 4, expirablePermits),
]

function scenario(
  name: string,
  callers: number,
  each: number,
  callerOf: (client: Redisson, name: string, caller: number) => Cycle | Promise<Cycle>,
): TurnScenario {
  return {
    name,
    cycles: callers * each,
    async prepare(client, arm) {
      const cycles: Cycle[] = []
      for (let caller = 0; caller < callers; caller++)
        cycles.push(await callerOf(client, `${name}:${arm}`, caller))
      const run = async (cycle: Cycle) => {
        for (let turn = 0; turn < each; turn++) await cycle()
      }
      return async () => void (await Promise.all(cycles.map(run)))
    },
  }
}

function cycleOf(lock: { acquire(): Promise<LockHold> }): Cycle {
  return async () => (await lock.acquire()).unlock()
}

function sidesOf(client: Redisson, name: string) {
  const lock = client.getReadWriteLock(name)
  return { readLock: cycleOf(lock.readLock()), writeLock: cycleOf(lock.writeLock()) }
}

/** Of a semaphore with eight. */
async function plainPermits(client: Redisson, name: string): Promise<Cycle> {
  const semaphore = client.getSemaphore(name)
  await semaphore.trySetPermits(8)
  return async () => {
    await semaphore.acquire()
    await semaphore.release()
  }
}

/** Of a semaphore with eight. */
async function expirablePermits(client: Redisson, name: string): Promise<Cycle> {
  const semaphore = client.getPermitExpirableSemaphore(name)
  await semaphore.trySetPermits(8)
  return async () => semaphore.release(await semaphore.acquire())
}
