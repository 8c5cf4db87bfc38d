import { Redis } from 'ioredis'
import type { ClientInternals } from '../../../../src/client/client-internals'
import { LeaseBook } from '../../../../src/leases/lease-book'
import { OrphanReleaser } from '../../../../src/leases/orphan-releaser'
import { FairLockKind } from '../../../../src/locks/fair-lock'
import { handshakes } from '../../../../src/redis/connect/ioredis-internals'
import { ClusterSubscriber } from '../../../../src/redis/listen/cluster-subscriber'
import { SubscriberConnection } from '../../../../src/redis/listen/subscriber'
import { CommandConnection, type SentScript } from '../../../../src/redis/send/command-connection'
import type { ScriptTransport } from '../../../../src/scripts/transport'
import { Cohort } from '../../../../src/waiting/cohort'
import type { FaultKind, TopologyName } from '../plan/catalogue'
import type { ObjectKind } from '../plan/objects'

/** Sends another source for one script. */
export function rewriting(name: string, rewrite: (source: string) => string) {
  return (transport: ScriptTransport): ScriptTransport => {
    const broken = (script: SentScript['script']): SentScript['script'] => {
      const source = rewrite(script.source)
      if (source === script.source) throw new Error(`the mutant finds nothing to change in ${name}`)
      return { ...script, source }
    }
    // Always with its source: the hash is the sound script's.
    return around(transport, {
      send: (call, bySource, answered, failed) =>
        call.script.name === name
          ? transport.send({ ...call, script: broken(call.script) }, true, answered, failed)
          : transport.send(call, bySource, answered, failed),
      sendAcknowledged: (call, bySource) =>
        call.script.name === name
          ? transport.sendAcknowledged!({ ...call, script: broken(call.script) }, true)
          : transport.sendAcknowledged!(call, bySource),
    })
  }
}

/** The transport, with another way of sending. */
export function around(
  transport: ScriptTransport,
  changed: Partial<Pick<ScriptTransport, 'send' | 'sendAcknowledged'>>,
): ScriptTransport {
  return {
    get lastBroken() {
      return transport.lastBroken
    },
    serverOf: (key) => transport.serverOf(key),
    mayHaveReplicas: (key) => transport.mayHaveReplicas?.(key) === true,
    get state() {
      return transport.state
    },
    get refusal() {
      return transport.refusal
    },
    send: changed.send ?? ((...call) => transport.send(...call)),
    sendAcknowledged: changed.sendAcknowledged ?? ((...call) => transport.sendAcknowledged!(...call)),
    probe: () => transport.probe(),
  }
}

/** Objects broken on purpose, each in the way that the locks of others are. */
export const OBJECT_MUTANTS = {
  'fair-never-leaves': 'a waiter of a fair lock that gives up stays in the queue',
  'token-deletes-any': 'a token lock is released without comparing the token',
  'semaphore-forgets-requests': 'a semaphore releases once more when the reply was lost',
  'permit-unchecked': 'permits are added for a release though the permit was not in use',
  'latch-forgets-requests': 'a latch counts down once more when the reply was lost',
  'latch-silent': 'a latch that reaches zero notifies no waiter',
  'fenced-token-repeats': 'a fenced lock draws a token for every other section only',
} as const

export type ObjectMutant = keyof typeof OBJECT_MUTANTS

export const OBJECT_OF: Readonly<Record<ObjectMutant, readonly ObjectKind[]>> = {
  'fair-never-leaves': ['fair'],
  'token-deletes-any': ['token'],
  'semaphore-forgets-requests': ['semaphore'],
  'permit-unchecked': ['permits'],
  'latch-forgets-requests': ['latch'],
  'latch-silent': ['latch'],
  'fenced-token-repeats': ['fenced'],
}

export const isObjectMutant = (name: string): name is ObjectMutant => name in OBJECT_MUTANTS

export function mutatedObject(mutant: ObjectMutant): ClientInternals {
  switch (mutant) {
    case 'fair-never-leaves':
      overwrite(FairLockKind.prototype, { leave: () => ({ answer: Promise.resolve({ value: 0 }) }) })
      return {}
    case 'token-deletes-any':
      return replacing('token-lock/release', "redis.call('get', KEYS[1]) ~= ARGV[1]", 'false')
    case 'semaphore-forgets-requests':
      return replacing('semaphore/release', 'if before then', 'if false then')
    case 'permit-unchecked':
      return replacing(
        'permit-expirable-semaphore/release',
        'if score and not areKnown[id] then',
        'if not areKnown[id] then',
      )
    case 'latch-forgets-requests':
      return replacing('count-down-latch/count-down', 'if before then', 'if false then')
    case 'latch-silent':
      return replacing(
        'count-down-latch/count-down',
        "return notifyOnce(answer, ARGV[2], ARGV[1], '0')",
        'return answer',
      )
    case 'fenced-token-repeats':
      return replacing(
        'fenced-lock/acquire',
        'return nextToken(KEYS[2], ARGV[3])',
        "return redis.call('time')[2] % 10 < 5 and nextToken(KEYS[2], ARGV[3]) or { lastToken(KEYS[2]) }",
      )
  }
}

const replacing = (script: string, sound: string, broken: string): ClientInternals => ({
  transport: rewriting(script, (source) => source.replace(sound, broken)),
})

/** Other members in the place of those that are there: one that has moved elsewhere would break nothing. */
function overwrite(target: object, members: object): void {
  for (const [name, member] of Object.entries(Object.getOwnPropertyDescriptors(members))) {
    if (!(name in target)) throw new Error(`the mutant finds no ${name} to change`)
    Object.defineProperty(target, name, { ...member, configurable: true })
  }
}

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
  // A process that wakes writes before its timers tell it: only if something was under way when it stood still.
  'loss-unnoticed': ['stop-worker'],
  'subscriber-stays': ['move-name'],
  'deaf-to-sentinels': ['replace-unheard'],
  'old-map': ['leave-cluster'],
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
      overwrite(OrphanReleaser.prototype, { afterTry() {} })
      return {}
    case 'release-of-anybody':
      return { transport: rewriting('lock/release', freeAnyway) }
    case 'renewal-not-sent':
      return { transport: withoutRenewals }
    case 'handoff-frees':
      return { transport: rewriting('lock/handoff', freeAsWell) }
    case 'loss-unnoticed':
      overwrite(LeaseBook.prototype, {
        get isPastDeadline() {
          return false
        },
      })
      return {}
    case 'deaf-after-reconnect':
      // What was subscribed before the break counts as subscribed after it.
      overwrite(SubscriberConnection.prototype, { forget() {} })
      return {}
    case 'never-yields':
      overwrite(Cohort.prototype, { yieldTime: () => 0, takeHandoff: () => true })
      return {}
    case 'subscriber-stays':
      overwrite(handshakes, { get: () => ({ runId: 'one server' }) })
      return {}
    case 'deaf-to-sentinels':
      if (worker === 'node-1') listenOnce()
      return {}
    case 'old-map':
      overwrite(CommandConnection.prototype, { readSlotMap() {} })
      overwrite(ClusterSubscriber.prototype, { probe() {} })
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
