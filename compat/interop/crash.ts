import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { timed, uniqueName } from '../../test/kit/clients'
import { REDISSON_VERSIONS, startJavaPeer } from '../../test/kit/java'
import { preparedOnce } from '../../test/kit/prepared'
import { type LockThread, READ, type Side, WRITE } from '../support/lock-peer'
import { startNodeHolder } from '../support/node-holder'
import { channelOf, untilAsleep, untilWaiting, type World } from '../support/world'

/** How much later than the end of the lease, or than a message, a waiter may be. */
const MARGIN_MS = 250

/** Everything that one process leaves behind when it dies. */
class Doomed {
  readonly plain = uniqueName()
  readonly written = uniqueName()
  readonly read = uniqueName()
  readonly writtenAndRead = uniqueName()
  /** Read together with a living thread of each side. */
  readonly zombie = { Java: uniqueName(), Node: uniqueName() }
  /** By how many ms later than the lease each waiter of the other side entered. */
  readonly late: number[] = []

  constructor(readonly side: Side) {}

  get locks() {
    return [
      { name: this.plain, type: 'lock' as const },
      { name: this.written, ...WRITE },
      { name: this.read, ...READ },
      { name: this.writtenAndRead, ...WRITE },
      { name: this.writtenAndRead, ...READ },
      { name: this.zombie.Java, ...READ },
      { name: this.zombie.Node, ...READ },
    ]
  }
}

/** Processes of both sides that are killed with all kinds of holds. */
export function crashTests(world: World, watchdogMs: number): void {
  let dead: Record<Side, Doomed>
  const living = (side: Side): LockThread => world[side].thread('living reader')
  const readTimeouts = (name: string) => world.redis.keys(`{${name}}:*:rwlock_timeout:1`)

  // Both die at once, and one wait is enough for all.
  preparedOnce(async () => {
    dead = { Java: new Doomed('Java'), Node: new Doomed('Node') }
    await Promise.all([dieUnderWaiters(dead.Java, 'Node'), dieUnderWaiters(dead.Node, 'Java')])
    await sleep(200)
  })

  for (const [side, waiter] of [
    ['Java', 'Node'],
    ['Node', 'Java'],
  ] as const)
    it(`a ${side} process killed with holds: ${waiter} enters when each lease ends (A6)`, () => {
      expect(dead[side].late).to.have.length(4)
      for (const late of dead[side].late) expect(late).to.be.within(-100, MARGIN_MS)
    })

  for (const reader of ['Java', 'Node'] as const) {
    for (const zombie of ['Java', 'Node'] as const) {
      const title = `a dead reader of ${zombie} beside a living one of ${reader}`
      // Up to 4.3.1 a Java reader renews the read timeout keys of all clients.
      if (reader === 'Java' && world.version === REDISSON_VERSIONS.oldest)
        it(`${title} is kept alive by it, and keeps writers out for a lease more`, async () => {
          const name = dead[zombie].zombie[reader]
          expect(await readTimeouts(name)).to.have.length(2)
          await living(reader).unlock(name, READ)
          expect(await world.Java.thread('w').tryLock(name, WRITE)).to.equal(false)
          const took = await timed(() => world.Node.thread('w').lock(name, WRITE))
          expect(took).to.be.within(MARGIN_MS, watchdogMs + MARGIN_MS)
          await world.Node.thread('w').unlock(name, WRITE)
        })
      else
        it(`${title} goes with it, and writers enter at once`, async () => {
          const name = dead[zombie].zombie[reader]
          // Its field is there still, its read timeout key is not.
          expect(await world.redis.hlen(name)).to.equal(3)
          expect(await readTimeouts(name)).to.have.length(1)
          // One writer alone: of two, the other may ask just when the first releases, and Java then misses that.
          const writer = world[zombie].thread('w')
          const acquired = writer.lock(name, WRITE)
          await untilAsleep(world.redis, name)
          const release = living(reader).unlock(name, READ)
          expect(await timed(() => Promise.all([release, acquired]))).to.be.below(MARGIN_MS)
          await writer.unlock(name, WRITE)
          expect(await world.redis.exists(name)).to.equal(0)
        })
    }
  }

  async function dieUnderWaiters(doomed: Doomed, waiter: Side): Promise<void> {
    const kill = await start(doomed)
    for (const side of ['Java', 'Node'] as const) await living(side).lock(doomed.zombie[side], READ)
    const wanted = [
      [doomed.plain, { type: 'lock' }],
      [doomed.written, READ],
      [doomed.read, WRITE],
      [doomed.writtenAndRead, READ],
    ] as const
    const entered = wanted.map(async ([name, side]) => {
      const thread = world[waiter].thread(`waits for ${name}`)
      await thread.lock(name, side)
      const at = performance.now()
      await thread.unlock(name, side)
      return at
    })
    await untilWaiting(world.redis, channelOf(doomed.plain))
    for (const [name] of wanted.slice(1)) await untilAsleep(world.redis, name)
    await kill()
    const ends = await Promise.all(
      wanted.map(async ([name]) => (await world.redis.pttl(name)) + performance.now()),
    )
    const times = await Promise.all(entered)
    doomed.late.push(...times.map((at, i) => at - ends[i]!))
  }

  /** A process that holds all that, in one thread; answers with what kills it. */
  async function start({ side, locks }: Doomed): Promise<() => Promise<void>> {
    const redis = world.server.url
    const lockWatchdogTimeout = watchdogMs
    if (side === 'Node') {
      const holder = await startNodeHolder({ options: { redis, lockWatchdogTimeout }, locks })
      return () => holder.kill()
    }
    const { version } = world
    const peer = await startJavaPeer({ version, redis, settings: { lockWatchdogTimeout } })
    for (const { name, type } of locks) await peer.thread('a').lock(name, { type })
    return () => peer.kill()
  }
}
