import { Redis } from 'ioredis'
import type { ClientInternals } from '../../../../src/client/client'
import { Hold } from '../../../../src/engine/hold'
import { OrphanReleaser } from '../../../../src/leases/orphan-releaser'
import { ClusterSubscriber } from '../../../../src/redis/cluster-subscriber'
import { CommandConnection } from '../../../../src/redis/command-connection'
import { runIds } from '../../../../src/redis/ioredis-internals'
import { SubscriberConnection } from '../../../../src/redis/subscriber'
import type { ScriptTransport, SentScript } from '../../../../src/scripts/transport'
import { Cohort } from '../../../../src/waiting/cohort'
import type { FaultKind, TopologyName } from '../plan/catalogue'
import type { ObjectKind } from '../plan/objects'
import { isObjectMutant, mutatedObject, OBJECT_MUTANTS, OBJECT_OF } from './object-mutants'
import { around, rewriting } from './rewriting'

/** Locks broken on purpose: a checker that lets one of them pass proves nothing. */
export const MUTANTS = {
  'give-up-forgotten': 'an acquisition given up while it is under way is not released when it is granted',
  'release-of-anybody': 'a late release frees the lock, also of another holder',
  'renewal-not-sent': 'the watchdog believes in renewals that never reached the server',
  'loss-unnoticed': 'a hold does not look at its deadline',
  'handoff-frees': 'a handoff also releases the lock that it hands off',
  'deaf-after-reconnect': 'a broken subscription is taken for a live one',
  'never-yields': 'a client never lets other processes have their turns',
  'subscriber-stays': 'a subscriber stays on another server than the commands',
  'deaf-to-sentinels': 'the first worker does not subscribe again at sentinels that have restarted',
  'old-map': 'a client does not look for cluster nodes that have left',
  'database-forgotten': 'a connection that is opened again goes on in database 0',
  ...OBJECT_MUTANTS,
} as const

export type MutantName = keyof typeof MUTANTS

/** The faults it runs under where not under all: what only shows in quiet must have some. */
export const FAULTS_UNDER: Partial<Record<MutantName, readonly FaultKind[]>> = {
  'never-yields': ['script-flush'],
  'subscriber-stays': ['move-name'],
  'deaf-to-sentinels': ['replace-unheard'],
  'old-map': ['leave-cluster'],
  // A member that is lost alone, and what is kept then shows in quiet.
  'multi-stops-at-lost': ['drop-member'],
  // Among all the others too few replies are lost of the one script that matters.
  'latch-forgets-requests': ['lose-replies'],
  'semaphore-forgets-requests': ['lose-replies'],
}

/** Where it runs, if that is not the single server. */
export const TOPOLOGY_OF: Partial<Record<MutantName, TopologyName>> = {
  'deaf-to-sentinels': 'sentinel',
  'old-map': 'cluster',
}

/** What takes part in its run where that is not the locks. */
export const OBJECTS_OF: Partial<Record<MutantName, readonly ObjectKind[]>> = OBJECT_OF

/** What the client is made with so that it has this fault. Some of it is done to the classes themselves. */
export function mutated(mutant: MutantName | undefined, worker: string): ClientInternals {
  if (mutant && isObjectMutant(mutant)) return mutatedObject(mutant)
  switch (mutant) {
    case undefined:
      return {}
    case 'give-up-forgotten':
      Object.assign(OrphanReleaser.prototype, { afterTry() {} })
      return {}
    case 'release-of-anybody':
      return { transport: rewriting('lock/release', freeAnyway) }
    case 'renewal-not-sent':
      return { transport: withoutRenewals }
    case 'handoff-frees':
      return { transport: rewriting('lock/handoff', freeAsWell) }
    case 'loss-unnoticed':
      Object.defineProperty(Hold.prototype, 'isPastDeadline', { get: () => false })
      return {}
    case 'deaf-after-reconnect':
      // What was subscribed before the break counts as subscribed after it.
      Object.assign(SubscriberConnection.prototype, { forget() {} })
      return {}
    case 'never-yields':
      Object.assign(Cohort.prototype, { yieldTime: () => 0, handOff: () => true })
      return {}
    case 'subscriber-stays':
      Object.assign(runIds, { get: () => 'one server' })
      return {}
    case 'deaf-to-sentinels':
      if (worker === 'node-1') listenOnce()
      return {}
    case 'old-map':
      Object.assign(CommandConnection.prototype, { readSlotMap() {} })
      Object.assign(ClusterSubscriber.prototype, { probe() {} })
      return {}
    case 'database-forgotten':
      forgetDatabases()
      return {}
  }
}

/** A connection that listens to a sentinel is not opened again. */
function listenOnce() {
  const { subscribe } = Redis.prototype
  Redis.prototype.subscribe = function (this: Redis, ...args: Parameters<typeof subscribe>) {
    if (String(args[0]) === '+switch-master') this.options.retryStrategy = () => null
    return subscribe.apply(this, args)
  } as typeof subscribe
}

/** Only the first SELECT of a connection is sent, and all are believed. */
function forgetDatabases() {
  const { select } = Redis.prototype
  const selected = new WeakSet<Redis>()
  Redis.prototype.select = function (this: Redis, ...args: Parameters<typeof select>) {
    if (selected.has(this)) return Promise.resolve('OK')
    selected.add(this)
    return select.apply(this, args)
  } as typeof select
}

const freeAnyway = (source: string): string => source.replace("'hdel', KEYS[1], ARGV[1]", "'del', KEYS[1]")
const freeAsWell = (source: string): string => source.replace("'pexpire', KEYS[1], ARGV[3]", "'del', KEYS[1]")

const isRenewal = (script: SentScript['script']) => script.name.endsWith('/renew')

const withoutRenewals = (transport: ScriptTransport): ScriptTransport =>
  around(transport, {
    send(call, bySource, answered, failed) {
      const { script, keys, args } = call
      if (!isRenewal(script)) transport.send(call, bySource, answered, failed)
      else queueMicrotask(() => answered(keys.map(() => Date.now() + Number(args[0]))))
    },
  })
