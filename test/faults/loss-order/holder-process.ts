// Holds locks as it is reported over IPC, and tells when it learns that one is lost.
import type { LockHold } from '../../../src/index'
import { Redisson } from '../../../src/index'
import { type Clock, systemClock } from '../../../src/util/clock'
import { type HoldOrder, machineNow, type Order, type Reported } from './messages'

const LOOK_EVERY = 5
/** A look that comes later than this comes from a process that was stopped. */
const STOPPED_FOR = 500

let redisson: Redisson | undefined
let watched: LockHold | undefined
let looking: NodeJS.Timeout | undefined
let wallSetBy = 0
/** Reads `isHeld` of the second lock; true while it is held. */
let look = () => false

/** The system's, but its wall time can be set. */
const clock: Clock = {
  ...systemClock,
  now: () => ({ ...systemClock.now(), wall: Date.now() + wallSetBy }),
  elapsedSince(moment) {
    const { monotonic, wall } = clock.now()
    return Math.max(monotonic - moment.monotonic, wall - moment.wall)
  },
}

function tell(reported: Reported) {
  process.send!(reported)
}

/**
 * Two locks of one lease: no code looks at the first, whose signal must abort by itself; of the second
 * `isHeld` is read all the time, which by itself can end a hold.
 */
async function hold({ redis, name, lease, explicit }: HoldOrder) {
  wallSetBy = 0
  redisson = await Redisson.createWith({ redis, lockWatchdogTimeout: lease }, { clock })
  redisson.on('error', () => {})
  const options = explicit ? { leaseTime: lease } : {}
  watched = await redisson.getLock(name).acquire(options)
  const asked = await redisson.getLock(`${name}:asked`).acquire(options)
  watched.signal.addEventListener('abort', () => tell({ reported: 'signal', at: machineNow() }))
  look = lookAt(asked)
  looking = setInterval(look, LOOK_EVERY)
  tell({ reported: 'held', at: machineNow() })
}

function lookAt(asked: LockHold) {
  let last = machineNow()
  let held = true
  return () => {
    const { isHeld } = asked
    const at = machineNow()
    if (at - last > STOPPED_FOR) tell({ reported: 'woke', at, isHeld })
    if (held && !isHeld) tell({ reported: 'not held', at })
    held = isHeld
    last = at
    return isHeld
  }
}

function block(ms: number) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  look()
}

async function end() {
  clearInterval(looking)
  await redisson?.shutdown({ timeout: 0 })
  tell({ reported: 'ended', at: machineNow() })
}

async function obey(order: Order) {
  switch (order.do) {
    case 'hold':
      return await hold(order.hold)
    case 'block':
      return block(order.ms)
    case 'set-wall-clock':
      wallSetBy = order.by
      return
    case 'unlock':
      return await watched?.unlock()
    case 'end':
      return await end()
  }
}

process.on('message', (order: Order) => {
  obey(order).catch((error) => {
    console.error(error)
    process.exit(1)
  })
})
process.on('disconnect', () => process.exit())
tell({ reported: 'ready' })
