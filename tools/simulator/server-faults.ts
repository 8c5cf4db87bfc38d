import { type Chooser, type Inject, longestLease } from './fault'
import type { Excuse } from './judge/history'
import type { Stage } from './stage'

/** Until a client has connected again, and its waiters have tried. */
const RECONNECT = 3_000
const UNBLOCKED =
  'UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)'

export function restart(keys: 'kept' | 'lost'): Inject {
  return (stage, random) => {
    const server = random.pick(stage.servers)
    if (server.isDown || server.isReplaced) return
    const ms = random.pick([1, 50, 500, 3_000, 12_000])
    const excuses: Excuse[] = ['delay', 'errors', 'loss', 'order']
    stage.recorder.fault(
      keys === 'kept' ? 'restart' : 'restart empty',
      keys === 'kept' ? excuses : [...excuses, 'data'],
      {
        ...{ lasts: ms, recovery: RECONNECT + longestLease(stage), server: server.name },
        ...(keys === 'lost' ? { forgets: true } : {}),
      },
    )
    server.stop()
    stage.world.in(ms, undefined, () => server.start(keys))
  }
}

export function failover(stage: Stage, random: Chooser) {
  const server = random.pick(stage.servers)
  if (server.isDown || !server.replica) return
  const lag = random.pick([1, 5, 50])
  server.replica.lag = lag
  // The lease of a grant may be over before the replica has acknowledged it. Its caller asks again, behind others of its process.
  if (lag >= Math.min(...stage.settings.leases))
    stage.recorder.fault('replica behind', ['order'], { lasts: 100, recovery: lag, server: server.name })
  // A primary that steps down ends each WAIT with an error, and has applied the script before it. From a stream of its own, so that
  // the other faults of a seed stay as they are.
  if (stage.world.choices.stream('failing WAIT').happens(0.3)) {
    stage.recorder.fault('WAIT fails', ['delay', 'errors', 'loss', 'order'], {
      lasts: 100,
      recovery: RECONNECT + longestLease(stage),
    })
    const endRefusal = server.refuse({ error: UNBLOCKED, command: 'wait' })
    stage.world.in(100, undefined, endRefusal)
  }
  stage.world.in(100, undefined, () => {
    if (server.isDown || !server.replica) return
    // Only what a replica has acknowledged survives, and only acquisitions and renewals wait for that.
    stage.recorder.fault('failover', ['delay', 'errors', 'loss', 'order'], {
      recovery: RECONNECT + longestLease(stage),
      ...{ server: server.name, rewinds: true },
    })
    server.failOver()
  })
}

/** A replica is promoted by order, or while its primary stood still, and neither the primary nor a client knows it for a while. */
export function promotion(stage: Stage, random: Chooser) {
  const server = random.pick(stage.servers)
  if (server.isDown || !server.replica) return
  server.replica.lag = random.pick([1, 5])
  const ms = random.pick([5, 200, 1_300, 3_500])
  const excuses: readonly Excuse[] = ['delay', 'errors', 'loss', 'order']
  const recovery = RECONNECT + longestLease(stage)
  stage.recorder.fault('promotion', excuses, { lasts: ms, recovery, server: server.name })
  const takeOver = server.promoteReplica()
  const knowing = grantedBefore(stage)
  stage.world.in(ms, undefined, () => {
    // A client that asks the old primary for the first time finds one without replicas (docs/operations/failover.md).
    const areNew = stage.clients.some(({ name, java }) => !java && !knowing.has(name))
    stage.recorder.fault('failover', areNew ? [...excuses, 'data'] : excuses, {
      ...{ recovery, server: server.name, rewinds: true, ...(areNew && { forgets: true }) },
    })
    takeOver()
  })
}

/** The clients that the primary of this moment granted something: they have counted its replicas. */
function grantedBefore({ recorder: { events } }: Stage): Set<string> {
  const clients = new Map<number, string>()
  const granted = new Set<string>()
  for (const event of events)
    if (event.type === 'fault' && /^(failover|restart)/.test(event.kind)) granted.clear()
    else if (event.type === 'call' && event.operation === 'acquire') clients.set(event.id, event.client)
    else if (event.type === 'return' && event.ok && clients.has(event.id)) granted.add(clients.get(event.id)!)
  return granted
}

export function stepServerClock(stage: Stage, random: Chooser) {
  if (stage.clients.some(({ java }) => java)) return
  const server = random.pick(stage.servers)
  const step = random.pick([-2_000, 2_000, 60_000, -60_000])
  stage.recorder.fault('clock step', ['data', 'loss', 'delay', 'order', 'errors'], {
    recovery: Math.abs(step) + longestLease(stage),
  })
  server.stepClock(step)
}

export function deleteKey(stage: Stage, random: Chooser) {
  const server = random.pick(stage.servers)
  const { name } = random.pick(stage.plan.objects)
  stage.recorder.fault('DEL', ['force', 'loss', 'data', 'order', 'delay'], {
    recovery: longestLease(stage),
    names: [name],
  })
  server.call('DEL', name)
}

export function flushAll(stage: Stage, random: Chooser) {
  const server = random.pick(stage.servers)
  stage.recorder.fault('FLUSHALL', ['data', 'loss', 'order', 'delay', 'errors'], {
    ...{ recovery: longestLease(stage), forgets: true },
  })
  server.call('FLUSHALL')
}
