import type { ClientLinks } from '../../packages/testing/src/simulation/connections'
import { type Break, LATEST_COPY } from '../../packages/testing/src/simulation/socket'
import { type Chooser, type Fault, FIND_SILENCE, type Inject, living, longestLease } from './fault'
import type { Excuse } from './judge/history'
import { deleteKey, failover, flushAll, promotion, restart, stepServerClock } from './server-faults'
import type { LiveClient, Stage } from './stage'

/** An idle connection that is silent shows at its next command, or when the network closes it. */
const NETWORK_CLOSES = 60_000
/** A connection that broke is there again. */
const CONNECT_AGAIN = 1_000

/** A connection of a client breaks. */
function cut(how: Break): Inject {
  return (stage, random) => {
    const client = random.pick(living(stage))
    const links = random.pick(client.links)
    const which = random.pick([
      ['commands'],
      ['messages'],
      ['commands', 'messages'],
      ['acknowledged'],
    ] as const)
    const recovery =
      how === 'silent' || how === 'half-open'
        ? NETWORK_CLOSES + FIND_SILENCE + longestLease(stage)
        : CONNECT_AGAIN + (how === 'late' ? LATEST_COPY : 0)
    const breakNow = () => {
      // What the connection had sent is fenced. Where the server refuses that, it stays as long as its lease: `no fence`.
      stage.recorder.fault(`cut ${how}`, ['delay', 'errors', 'loss', 'order'], {
        recovery,
        clients: [client.name],
      })
      for (const each of which) links[each]?.break(how)
    }
    if (random.choose(2) === 0) breakNow()
    else whenInFlight(stage, client, links, breakNow)
  }
}

/** A moment at which a command of this connection is under way: there a cut can do most. */
function whenInFlight(
  stage: Stage,
  client: LiveClient,
  { commands }: Pick<ClientLinks, 'commands'>,
  then: () => void,
  tries = 60,
) {
  if (!client.isAlive) return
  if (!commands.isIdle || tries === 0) then()
  else stage.world.in(0.7, undefined, () => whenInFlight(stage, client, { commands }, then, tries - 1))
}

/** A message that was refused is missed. The first waiter of a semaphore, which no lease wakes, tries again so late. */
const RECHECK = 30_000

const LENGTHS = [10, 100, 500, 2_000, 8_000]
const LOADING = 'LOADING Redis is loading the dataset in memory'

function forAWhile(
  kind: string,
  excuses: readonly Excuse[],
  begin: (stage: Stage, random: Chooser, ms: number) => () => void,
): Inject {
  return (stage, random) => {
    const ms = random.pick(LENGTHS)
    const recovery = (kind === 'no PUBLISH' ? RECHECK : FIND_SILENCE) + longestLease(stage)
    stage.recorder.fault(kind, excuses, { lasts: ms, recovery })
    const end = begin(stage, random, ms)
    stage.world.in(ms, undefined, end)
  }
}

function refused(kind: string, error: string, refusal: { command?: string; writes?: boolean } = {}): Inject {
  return forAWhile(kind, ['errors', 'delay', 'loss', 'order'], (stage, random) =>
    random.pick(stage.servers).refuse({ error, ...refusal }),
  )
}

export const FAULTS: readonly Fault[] = [
  { kind: 'cut after', weight: 6, inject: cut('after') },
  { kind: 'cut before', weight: 4, inject: cut('before') },
  { kind: 'cut late', weight: 6, inject: cut('late') },
  { kind: 'cut silent', weight: 2, inject: cut('silent') },
  { kind: 'cut half-open', weight: 2, inject: cut('half-open') },
  { kind: 'slow', weight: 2, inject: slow },
  { kind: 'suspend', weight: 4, inject: suspend },
  { kind: 'kill', weight: 2, inject: kill },
  { kind: 'shutdown', weight: 2, inject: shutDown },
  { kind: 'wall clock', weight: 1, inject: stepWallClock },
  {
    kind: 'pause',
    weight: 2,
    inject: forAWhile('pause', ['delay', 'errors', 'loss', 'order'], (stage, random) => {
      const server = random.pick(stage.servers)
      server.pause()
      return () => server.resume()
    }),
  },
  { kind: 'restart', weight: 2, inject: restart('kept') },
  { kind: 'restart empty', weight: 1, inject: restart('lost') },
  { kind: 'failover', weight: 6, inject: failover, needsReplica: true },
  { kind: 'promotion', weight: 6, inject: promotion, needsReplica: true },
  {
    kind: 'script flush',
    weight: 2,
    inject: (stage, random) => {
      stage.recorder.fault('script flush', [], { recovery: 0 })
      random.pick(stage.servers).call('SCRIPT', 'FLUSH')
    },
  },
  {
    kind: 'NOPERM',
    weight: 1,
    inject: refused('NOPERM', 'NOPERM this user has no permissions to run the command', {
      command: 'evalsha',
    }),
  },
  {
    kind: 'OOM',
    weight: 1,
    inject: refused('OOM', "OOM command not allowed when used memory > 'maxmemory'.", { writes: true }),
  },
  {
    kind: 'READONLY',
    weight: 1,
    inject: refused('READONLY', "READONLY You can't write against a read only replica.", { writes: true }),
  },
  { kind: 'LOADING', weight: 1, inject: refused('LOADING', LOADING) },
  {
    kind: 'BUSY',
    weight: 1,
    inject: refused(
      'BUSY',
      'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
    ),
  },
  {
    kind: 'no PUBLISH',
    weight: 1,
    inject: refused(
      'no PUBLISH',
      "NOPERM ACL failure in script: User default has no permissions to run the 'publish' command",
      { command: 'publish' },
    ),
  },
  {
    kind: 'no fence',
    weight: 2,
    inject: refused('no fence', "NOPERM this user has no permissions to run the 'client|kill' command", {
      command: 'client kill',
    }),
  },
  { kind: 'clock step', weight: 0.5, inject: stepServerClock },
  { kind: 'DEL', weight: 0.5, inject: deleteKey },
  { kind: 'FLUSHALL', weight: 0.3, inject: flushAll },
]

function slow(stage: Stage, random: Chooser) {
  const client = random.pick(living(stage))
  const links = random.pick(client.links)
  const [delay, ms] = [random.pick([20, 200, 1_500]), random.pick(LENGTHS)]
  stage.recorder.fault('slow', ['delay', 'loss', 'errors', 'order'], {
    lasts: ms,
    recovery: FIND_SILENCE + longestLease(stage),
  })
  const all = [links.commands, links.messages, links.acknowledged]
  for (const link of all) link?.slowDown(delay)
  stage.world.in(ms, undefined, () => {
    for (const link of all) link?.slowDown(0)
  })
}

function suspend(stage: Stage, random: Chooser) {
  const client = random.pick(living(stage))
  if (client.process.isSuspended) return
  const ms = random.pick([5, 50, 500, 1_500, 4_000, 40_000])
  const asleep = random.choose(2) === 1
  stage.recorder.fault('suspend', ['delay', 'loss', 'errors', 'order'], {
    ...{ lasts: ms, recovery: FIND_SILENCE, clients: [client.name] },
  })
  stage.recorder.client(client.name, 'suspended')
  client.process.suspend(ms, asleep)
  stage.world.in(ms, undefined, () => stage.recorder.client(client.name, 'resumed'))
}

function kill(stage: Stage, random: Chooser) {
  const clients = living(stage)
  const client = random.pick(clients)
  // What it held is not free before its lease ends, and its fair places lapse.
  stage.recorder.fault('kill', ['delay', 'order'], { recovery: 0, clients: [client.name] })
  stage.kill(client)
  stage.world.in(100, undefined, () => void stage.replace().catch(() => {}))
}

function shutDown(stage: Stage, random: Chooser) {
  const client: LiveClient | undefined = random.pick(living(stage).filter(({ java }) => !java))
  const timeout = random.pick([0, 10, 2_000])
  if (!client || client.isClosing) return
  client.isClosing = true
  stage.recorder.fault('shutdown', ['loss'], { lasts: timeout, recovery: 0, clients: [client.name] })
  stage.shutDown(client, timeout).catch((error) => stage.world.failed(error))
  stage.world.in(100, undefined, () => void stage.replace().catch(() => {}))
}

function stepWallClock(stage: Stage, random: Chooser) {
  // Java's leases and places are by its own clock, so they suffer from a step as a server's do.
  const client: LiveClient = random.pick(living(stage).filter(({ java }) => !java))
  if (!client) return
  const step = random.pick([-5_000, 5_000, 3_600_000, -3_600_000])
  // A lease that is over by the clock before its answer arrives is given back, and its caller asks again, behind the others.
  stage.recorder.fault('wall clock', step > 0 ? ['loss', 'errors', 'order'] : ['set back'], {
    recovery: 1_000,
    clients: [client.name],
  })
  client.process.stepWallClock(step)
}
