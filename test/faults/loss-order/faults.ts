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

export const STANDALONE_FAULTS: readonly Fault<StandaloneLane>[] = [
  {
    id: 'cut',
    title: 'connection cut, then refused',
    expects: 'lost',
    inflict: atOnce(({ proxy }) => {
      proxy.breakOff()
    }),
    heal: reconnectable,
  },
  {
    id: 'stall',
    title: 'network silent both ways',
    expects: 'lost',
    inflict: atOnce(({ proxy }) => proxy.stall()),
    heal: reconnectable,
  },
  {
    id: 'stall-replies',
    title: 'replies held back',
    expects: 'lost',
    inflict: atOnce(({ proxy }) => proxy.stallReplies()),
    heal: reconnectable,
  },
  {
    id: 'half-close',
    title: 'half-closed, then refused',
    expects: 'lost',
    inflict: atOnce(({ proxy }) => {
      proxy.refuse()
      proxy.halfClose('client')
    }),
    heal: reconnectable,
  },
  {
    id: 'cut-once',
    title: 'connection cut once',
    expects: 'kept',
    inflict: atOnce(({ proxy }) => proxy.cut()),
  },
  {
    id: 'half-close-once',
    title: 'half-closed once',
    expects: 'kept',
    inflict: atOnce(({ proxy }) => proxy.halfClose('server')),
  },
  {
    id: 'kill-subscribers',
    title: 'subscriber connections killed',
    expects: 'kept',
    async inflict({ server }) {
      const at = machineNow()
      await withClient(server, (client) => client.call('CLIENT', 'KILL', 'TYPE', 'pubsub'))
      return { at }
    },
  },
  {
    id: 'client-pause',
    title: 'CLIENT PAUSE past the lease',
    expects: 'lost',
    async inflict({ server }, lease) {
      const at = machineNow()
      await withClient(server, (client) => client.call('CLIENT', 'PAUSE', Math.round(PAST * lease), 'ALL'))
      return { at }
    },
  },
  {
    id: 'server-stopped',
    title: 'server SIGSTOPped past the lease',
    expects: 'lost',
    async inflict({ server }, lease) {
      const at = machineNow()
      await server.pause()
      await sleep(PAST * lease)
      await server.resume()
      return { at }
    },
  },
  {
    id: 'explicit',
    title: 'explicit lease runs out',
    expects: 'lost',
    explicit: true,
    inflict: atOnce(() => {}),
  },
  {
    id: 'wall-forward',
    title: 'wall clock set forward an hour',
    expects: 'lost',
    inflict: atOnce(({ holder }) => holder.order({ do: 'set-wall-clock', by: HOUR })),
  },
  {
    id: 'wall-back',
    title: 'wall clock set back an hour',
    expects: 'kept',
    inflict: atOnce(({ holder }) => holder.order({ do: 'set-wall-clock', by: -HOUR })),
  },
  {
    id: 'wall-back-cut',
    title: 'wall clock set back, connection cut',
    expects: 'lost',
    inflict: atOnce(({ holder, proxy }) => {
      holder.order({ do: 'set-wall-clock', by: -HOUR })
      proxy.breakOff()
    }),
    heal: reconnectable,
  },
  {
    id: 'blocked',
    title: 'event loop blocked past the lease',
    expects: 'paused',
    async inflict({ holder }, lease) {
      const at = machineNow()
      holder.order({ do: 'block', ms: PAST * lease })
      return { at }
    },
  },
  {
    id: 'stopped',
    title: 'process SIGSTOPped past the lease',
    expects: 'paused',
    async inflict({ holder }, lease) {
      const at = machineNow()
      holder.signal('SIGSTOP')
      await sleep(PAST * lease)
      const ended = machineNow()
      holder.signal('SIGCONT')
      return { at, ended }
    },
  },
  {
    id: 'restart-empty',
    title: 'server restarted empty',
    expects: 'wiped',
    async inflict({ server }) {
      await server.restart({ keepData: false })
      return { at: machineNow() }
    },
  },
]
