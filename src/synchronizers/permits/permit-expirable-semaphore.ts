import {
  type AcquireArguments,
  aNumber,
  lockArguments,
  type PermitsWanted,
  permitCount,
} from '../../api/arguments'
import type { AcquirePermitOptions, TryAcquirePermitOptions, WithPermitOptions } from '../../api/call-options'
import { PermitNotHeldError } from '../../api/errors'
import type { TimeUnit } from '../../api/time-unit'
import type { Client } from '../../client/client'
import { script } from '../../scripts/script'
import { disposeAfter } from '../../util/dispose-after'
import { quote } from '../../util/quote'
import { PermitsTogether, semaphoreChannel } from '../base-permits-attempt'
import { change, enter, messagesOf, read, Synchronizer, waitIsOver } from '../synchronizer'
import { LeasedPermitsAttempt } from './leased-permits-attempt'
import { AcquiredPermit, type Permit } from './permit'
import {
  acquireLeasedArguments,
  acquirePermitOptions,
  permitId,
  permitIds,
  tryAcquireLeasedArguments,
  tryPermitOptions,
  withPermitOptions,
} from './permit-arguments'
import { PermitLease } from './permit-lease'
import { notInUse, releasePermits, timeoutsKey } from './permit-release'
import type { RPermitExpirableSemaphore } from './rpermit-expirable-semaphore'

const COUNT = script('permit-expirable-semaphore/count', (raw) => {
  const [permits, free, inUse] = raw as [number, number, number]
  return { permits, free, inUse }
})
const SET_PERMITS = script('permit-expirable-semaphore/set-permits', Number)
const ADD_PERMITS = script('permit-expirable-semaphore/add-permits', Number)
const UPDATE_LEASE_TIME = script('permit-expirable-semaphore/update-lease-time', (raw) => raw === 1)
const GET_LEASE_TIME = script('permit-expirable-semaphore/get-lease-time', Number)

const KIND = { kind: 'permit', what: 'semaphore', interfaceName: 'RPermitExpirableSemaphore' } as const

/** The answer of `get-lease-time` for a permit that is not in use. */
const NOT_IN_USE = -2

const TRIES_TO_OUTRUN_LEASE = 10

/** See the interface, src/synchronizers/permits/rpermit-expirable-semaphore.ts. */
export class PermitExpirableSemaphore extends Synchronizer implements RPermitExpirableSemaphore {
  constructor(client: Client, name: string, key: string) {
    const keys = [key, timeoutsKey(key)] as const
    const admission = () => new PermitsTogether()
    super(client, name, KIND, keys, { channel: semaphoreChannel(key), takesTurns: false, admission })
  }

  async acquirePermit(options?: AcquirePermitOptions): Promise<Permit> {
    return (await takeAsObject(this, acquirePermitOptions(options)))!
  }

  async tryAcquirePermit(options?: TryAcquirePermitOptions): Promise<Permit | undefined> {
    return await takeAsObject(this, tryPermitOptions(options))
  }

  async withPermit<T>(fn: (permit: Permit) => T | Promise<T>, options?: WithPermitOptions): Promise<T> {
    if (typeof fn !== 'function') throw new TypeError('withPermit expects a function')
    const wanted = withPermitOptions(options)
    const permit = await takeAsObject(this, wanted)
    if (!permit) throw waitIsOver(this, wanted.waitTime)
    return await disposeAfter(permit, () => fn(permit), PermitNotHeldError)
  }

  // biome-ignore lint/suspicious/noExplicitAny: an id or a list of them, as the interface says.
  async acquire(...args: Parameters<typeof acquireLeasedArguments>): Promise<any> {
    return await takeIds(this, acquireLeasedArguments(...args), typeof args[0] === 'object')
  }

  // biome-ignore lint/suspicious/noExplicitAny: an id or a list of them, as the interface says.
  async tryAcquire(...args: Parameters<typeof tryAcquireLeasedArguments>): Promise<any> {
    return await takeIds(this, tryAcquireLeasedArguments(...args), typeof args[0] === 'object')
  }

  async release(permits: string | readonly string[]): Promise<void> {
    const ids = Array.isArray(permits) ? permitIds(permits) : [permitId(permits)]
    const states = await releaseByIds(this, ids, false)
    const lost = ids.filter((_, index) => states[index] !== 'released')
    if (lost.length > 0) throw notInUse(this, lost, ids.length)
  }

  // biome-ignore lint/suspicious/noExplicitAny: a boolean for one, a number for a list.
  async tryRelease(permits: string | readonly string[]): Promise<any> {
    if (!Array.isArray(permits)) {
      const [state] = await releaseByIds(this, [permitId(permits)], false)
      return state === 'released'
    }
    const states = await releaseByIds(this, permitIds(permits), true)
    return states.every((state) => state === 'released') ? states.length : 0
  }

  async availablePermits(): Promise<number> {
    return (await read(this, COUNT, messagesOf(this))).free
  }

  async acquiredPermits(): Promise<number> {
    return (await read(this, COUNT, messagesOf(this))).inUse
  }

  async getPermits(): Promise<number> {
    return (await read(this, COUNT, messagesOf(this))).permits
  }

  async trySetPermits(permits: number): Promise<boolean> {
    return await change(this, SET_PERMITS, [permitCount(permits), 1])
  }

  async setPermits(permits: number): Promise<void> {
    await change(this, SET_PERMITS, [permitCount(permits), 0])
  }

  async addPermits(permits: number): Promise<void> {
    await change(this, ADD_PERMITS, [permitCount(permits, -(2 ** 31))])
  }

  async updateLeaseTime(permit: string, leaseTime: number, unit?: TimeUnit): Promise<boolean> {
    const id = permitId(permit)
    const lease = lockArguments(aNumber('leaseTime', leaseTime), unit).leaseTime
    this.client.assertOpen()
    assertNoOwn(this, [id])
    return (await this.requests.run(UPDATE_LEASE_TIME, [lease ?? 0, ...messagesOf(this), id], true)).value
  }

  async getLeaseTime(permit: string): Promise<number> {
    const id = permitId(permit)
    const value = await read(this, GET_LEASE_TIME, [id])
    if (value === NOT_IN_USE) throw notInUse(this, [id], 1)
    return value
  }
}

/** A Permit would not learn what is done to its id. */
function assertNoOwn({ client, name, target }: Synchronizer, ids: readonly string[]): void {
  const own = ids.find((id) => client.leases.live.owned(target.key, id))
  if (own !== undefined)
    throw new TypeError(
      `This client holds the permit ${own} of the semaphore ${quote(name)} as a Permit (client ` +
        `${client.clientId}): use permit.release(). Calls by an id are for permits of acquire() and ` +
        'tryAcquire(), and of other clients. Nothing was sent.',
    )
}

async function releaseByIds(semaphore: Synchronizer, ids: readonly string[], all: boolean) {
  const { client, target } = semaphore
  assertNoOwn(semaphore, ids)
  const states = await releasePermits(semaphore, ids, all)
  // Those that are not in use are not out any more either.
  if (!all || states.every((state) => state === 'released'))
    client.permitsOut.released(target.objectId, ids.length)
  return states
}

async function takeAsObject(semaphore: Synchronizer, wanted: AcquireArguments) {
  const { client } = semaphore
  const { leaseTime, signal, waitTime: limit = client.options.waitTime } = wanted
  const maxHoldTime = leaseTime ? undefined : (wanted.maxHoldTime ?? client.options.maxHoldTime)
  const lease = leaseTime ?? Math.min(client.lockWatchdogTimeout, maxHoldTime ?? Infinity)
  const started = client.clock.now()
  // All tries are one wait, also where its limit is that of the client.
  for (let tries = 1; ; tries++) {
    const waitTime = Math.max(0, limit - client.clock.elapsedSince(started))
    const taken = await take(semaphore, { leaseTime: lease, waitTime, signal, permits: 1 })
    if (!taken) {
      if (wanted.waitTime === undefined) throw waitIsOver(semaphore, limit)
      return undefined
    }
    const { ids, sent } = taken
    const permit = new PermitLease(semaphore, ids[0]!, sent, leaseTime, maxHoldTime, lease)
    if (!permit.book.isPastDeadline) {
      client.leases.begin(permit)
      return new AcquiredPermit(permit)
    }
    permit.releaseOrphan(sent)
    if (tries === TRIES_TO_OUTRUN_LEASE)
      throw permit.notHeld(
        `its lease of ${lease} ms was over before the answer arrived, ${tries} times in a row. Use a ` +
          'leaseTime that is longer than a round trip',
      )
  }
}

async function takeIds(semaphore: Synchronizer, wanted: PermitsWanted, many: boolean) {
  const taken = await take(semaphore, wanted)
  if (taken) semaphore.client.permitsOut.took(semaphore.target.objectId, taken.ids.length)
  return many ? taken?.ids : taken?.ids[0]
}

async function take(semaphore: Synchronizer, wanted: PermitsWanted) {
  const { client } = semaphore
  const attempt = new LeasedPermitsAttempt(semaphore, wanted)
  const reply = await enter(semaphore, attempt, wanted.waitTime)
  if (!reply) return undefined
  // The client may have begun to shut down in the same tick.
  if (!client.closing.aborted) return { ids: attempt.ids, sent: reply.sent }
  attempt.undo(undefined)
  throw client.closing.reason
}
