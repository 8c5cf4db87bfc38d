import { setTimeout as sleep } from 'node:timers/promises'
import { withClient } from '../../kit/servers/index'
import type { Lane, StandaloneLane } from './lane'
import { machineNow } from './messages'

/**
 * - `lost`: noticed, and before Redis lets another in
 * - `kept`: nothing is lost
 * - `paused`: noticed on waking; the other was inside before
 * - `wiped`: the server lost its data; noticed, but the other may be faster
 */
export type Expectation = 'lost' | 'kept' | 'paused' | 'wiped'

export interface Fault<L extends Lane> {
  readonly id: string
  readonly title: string
  readonly expects: Expectation
  /** The lock is held by a lease of its own instead of by the watchdog. */
  readonly explicit?: boolean
  /** Inflicts it and resolves with when it happened and, for a pause, when it ended. */
  inflict(lane: L, lease: number): Promise<{ at: number; ended?: number }>
  /** Puts the lane right again. */
  heal?(lane: L): Promise<void> | void
}

/** Longer than the lease, and than the contender takes to get in when it has run out. */
const PAST = 1.6

const HOUR = 3_600_000

function atOnce<L extends Lane>(act: (lane: L) => void) {
  return async (lane: L) => {
    const at = machineNow()
    act(lane)
    return { at }
  }
}

async function reconnectable({ proxy }: StandaloneLane) {
  proxy.resume()
  await proxy.accept()
}

function fault(
  id: string,
  title: string,
  expects: Expectation,
  more: Pick<Fault<StandaloneLane>, 'explicit' | 'heal'>,
  inflict: Fault<StandaloneLane>['inflict'],
): Fault<StandaloneLane> {
  return { id, title, expects, ...more, inflict }
}

export const STANDALONE_FAULTS: readonly Fault<StandaloneLane>[] = [
  fault(
    'cut',
    'connection cut, then refused',
    'lost',
    { heal: reconnectable },
    atOnce(({ proxy }) => {
      proxy.breakOff()
    }),
  ),
  fault(
    'stall',
    'network silent both ways',
    'lost',
    { heal: reconnectable },
    atOnce(({ proxy }) => proxy.stall()),
  ),
  fault(
    'stall-replies',
    'replies held back',
    'lost',
    { heal: reconnectable },
    atOnce(({ proxy }) => proxy.stallReplies()),
  ),
  fault(
    'half-close',
    'half-closed, then refused',
    'lost',
    { heal: reconnectable },
    atOnce(({ proxy }) => {
      proxy.refuse()
      proxy.halfClose('client')
    }),
  ),
  fault(
    'cut-once',
    'connection cut once',
    'kept',
    {},
    atOnce(({ proxy }) => proxy.cut()),
  ),
  fault(
    'half-close-once',
    'half-closed once',
    'kept',
    {},
    atOnce(({ proxy }) => proxy.halfClose('server')),
  ),
  fault('kill-subscribers', 'subscriber connections killed', 'kept', {}, async ({ server }) => {
    const at = machineNow()
    await withClient(server, (client) => client.call('CLIENT', 'KILL', 'TYPE', 'pubsub'))
    return { at }
  }),
  fault('client-pause', 'CLIENT PAUSE past the lease', 'lost', {}, async ({ server }, lease) => {
    const at = machineNow()
    await withClient(server, (client) => client.call('CLIENT', 'PAUSE', Math.round(PAST * lease), 'ALL'))
    return { at }
  }),
  fault('server-stopped', 'server SIGSTOPped past the lease', 'lost', {}, async ({ server }, lease) => {
    const at = machineNow()
    await server.pause()
    await sleep(PAST * lease)
    await server.resume()
    return { at }
  }),
  fault(
    'explicit',
    'explicit lease runs out',
    'lost',
    { explicit: true },
    atOnce(() => {}),
  ),
  fault(
    'wall-forward',
    'wall clock set forward an hour',
    'lost',
    {},
    atOnce(({ holder }) => holder.order({ do: 'set-wall-clock', by: HOUR })),
  ),
  fault(
    'wall-back',
    'wall clock set back an hour',
    'kept',
    {},
    atOnce(({ holder }) => holder.order({ do: 'set-wall-clock', by: -HOUR })),
  ),
  fault(
    'wall-back-cut',
    'wall clock set back, connection cut',
    'lost',
    { heal: reconnectable },
    atOnce(({ holder, proxy }) => {
      holder.order({ do: 'set-wall-clock', by: -HOUR })
      proxy.breakOff()
    }),
  ),
  fault('blocked', 'event loop blocked past the lease', 'paused', {}, async ({ holder }, lease) => {
    const at = machineNow()
    holder.order({ do: 'block', ms: PAST * lease })
    return { at }
  }),
  fault('stopped', 'process SIGSTOPped past the lease', 'paused', {}, async ({ holder }, lease) => {
    const at = machineNow()
    holder.signal('SIGSTOP')
    await sleep(PAST * lease)
    const ended = machineNow()
    holder.signal('SIGCONT')
    return { at, ended }
  }),
  fault('restart-empty', 'server restarted empty', 'wiped', {}, async ({ server }) => {
    await server.restart({ keepData: false })
    return { at: machineNow() }
  }),
]
