import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { type Redisson, TimeUnit } from '../src/index'
import { createRedisson, openRedis, rejection, timed, uniqueName } from '../test/kit/clients'
import { openUntilTheEnd } from '../test/kit/closing'
import { ALL_REDISSON_VERSIONS, describeWithJava, ownJavaPeer, REDISSON_VERSIONS } from '../test/kit/java'
import { stillPending } from '../test/kit/observing'
import { ownServer, waitUntil } from '../test/kit/servers/index'
import { asleep } from '../test/kit/sleepers'
import { type JavaObject, javaObject } from './support/java-methods'

const { oldest, middle, newest } = REDISSON_VERSIONS
/** The two ends; all four, with ALL_VERSIONS in the environment. */
const VERSIONS = process.env.ALL_VERSIONS ? ALL_REDISSON_VERSIONS : [oldest, newest]
const WOKEN_WITHIN_MS = 600
const MS = 'MILLISECONDS'

for (const version of VERSIONS)
  describeWithJava(`Java ${version} and Node on one semaphore or latch`, () => {
    // Leases that can be asked for and lists released all or none: since 3.41.
    const isNew = version !== oldest && version !== middle
    openUntilTheEnd()
    const server = ownServer()
    const java = ownJavaPeer(server, { version })
    let redis: Redis
    let node: Redisson

    before(async () => {
      redis = await openRedis(server.url)
      node = await createRedisson({ redis: server.url, lockWatchdogTimeout: 1_500 })
      // Loads classes and connections: no test is to take a JVM's first steps for a late wake-up.
      for (const getter of ['getSemaphore', 'getPermitExpirableSemaphore'] as const) {
        const object = inJava(getter, 'warm-up')
        await object('trySetPermits', 1)
        const id = await object<string>('acquire')
        const waiting = inJava(getter, 'warm-up', 'b')<string>('acquire')
        await sleep(100)
        await (getter === 'getSemaphore' ? object('release') : object('release', id))
        await waiting
        await redis.del('warm-up', '{warm-up}:timeout')
      }
    })

    const inJava = (getter: string, name: string, thread = 'a'): JavaObject =>
      javaObject(java.thread(thread), getter, name)

    async function listens(channel: string, clients = 1): Promise<void> {
      await waitUntil(`${clients} listen on ${channel}`, async () => {
        const [, count] = (await redis.pubsub('NUMSUB', channel)) as [string, number]
        return Number(count) >= clients
      })
      await sleep(60)
    }

    describe('a semaphore', () => {
      const objects = () => {
        const name = uniqueName('semaphore')
        return {
          name,
          theirs: inJava('getSemaphore', name),
          ours: node.getSemaphore(name),
          channel: `redisson_sc:{${name}}`,
        }
      }

      it(`Java ${version} waiting for permits is woken by ours, and ours by Java's`, async () => {
        const { name, theirs, ours, channel } = objects()
        await theirs('trySetPermits', 2)
        await ours.acquire(2)
        const javaWaits = theirs('acquire', 2)
        await listens(channel)
        await ours.release()
        expect(await stillPending(javaWaits, 100)).to.equal(true)
        expect(await timed(() => Promise.all([ours.release(), javaWaits]))).to.be.below(WOKEN_WITHIN_MS)
        const weWait = ours.acquire(2)
        await asleep(node, `semaphore ${name}`)
        expect(await timed(() => Promise.all([theirs('release', 2), weWait]))).to.be.below(WOKEN_WITHIN_MS)
        expect(await theirs('availablePermits')).to.equal(0)
      })

      it(`Java ${version} asleep survives permits that we take away, and enters later (S7)`, async () => {
        const { theirs, ours, channel } = objects()
        await ours.trySetPermits(0)
        const waiting = theirs('acquire')
        await listens(channel)
        await ours.addPermits(-3)
        await ours.release(3)
        await sleep(30)
        expect(await timed(() => Promise.all([ours.release(), waiting]))).to.be.below(WOKEN_WITHIN_MS)
      })

      it(`Every call leaves what Java ${version} leaves, but for a dropped TTL (S9)`, async () => {
        const { name, theirs, ours } = objects()
        const other = objects()
        const both = async (a: Promise<unknown>, b: Promise<unknown>) => {
          const [first, second] = await Promise.all([a, b])
          // Java answers null where nothing is to be said.
          expect(first ?? undefined).to.equal(second ?? undefined)
          expect(await redis.get(name)).to.equal(await redis.get(other.name))
        }
        await both(theirs('availablePermits'), other.ours.availablePermits())
        await both(theirs('trySetPermits', 4), other.ours.trySetPermits(4))
        await both(theirs('trySetPermits', 4), other.ours.trySetPermits(4))
        await both(theirs('acquire', 3), other.ours.acquire(3))
        await both(theirs('tryAcquire', 2), other.ours.tryAcquire(2))
        await both(theirs('release', 5), other.ours.release(5))
        await both(theirs('addPermits', -8), other.ours.addPermits(-8))
        await both(theirs('drainPermits'), other.ours.drainPermits())
        await both(theirs('addPermits', 3), other.ours.addPermits(3))
        await both(theirs('tryAcquire', 1, 50, MS), other.ours.tryAcquire(1, 50))
        await redis.del(name, other.name)
        await both(theirs('release'), other.ours.release())
        await redis.pexpire(name, 60_000)
        await theirs('drainPermits')
        expect(await redis.pttl(name)).to.equal(-1)
        await redis.pexpire(name, 60_000)
        await ours.addPermits(2)
        await ours.drainPermits()
        expect(await redis.pttl(name)).to.be.greaterThan(0)
      })

      it(`Java ${version} and Node together never exceed the permits, and all come back`, async () => {
        const { name } = objects()
        await node.getSemaphore(name).trySetPermits(2)
        let inside = 0
        let most = 0
        const section = async () => {
          most = Math.max(most, ++inside)
          await sleep(1)
          inside--
        }
        const sections = { java: 0, node: 0 }
        const until = performance.now() + 1_500
        const workers = Array.from({ length: 6 }, async (_, worker) => {
          const theirs = inJava('getSemaphore', name, `w${worker}`)
          const ours = node.getSemaphore(name)
          while (performance.now() < until) {
            if (worker < 3) await theirs('acquire')
            else await ours.acquire()
            sections[worker < 3 ? 'java' : 'node']++
            await section()
            if (worker < 3) await theirs('release')
            else await ours.release()
          }
        })
        await Promise.all(workers)
        expect(most).to.equal(2)
        expect(await redis.get(name)).to.equal('2')
        expect(Math.min(sections.java, sections.node)).to.be.greaterThan(20)
      })
    })

    describe('a semaphore whose permits expire', () => {
      const objects = () => {
        const name = uniqueName('permits')
        return {
          name,
          theirs: inJava('getPermitExpirableSemaphore', name),
          ours: node.getPermitExpirableSemaphore(name),
          channel: `redisson_sc:{${name}}`,
          timeouts: `{${name}}:timeout`,
        }
      }

      if (isNew) {
        it(`Permits taken by Java ${version} are released here by id, and ours there (P2)`, async () => {
          const { name, theirs, ours } = objects()
          await ours.trySetPermits(40)
          for (let each = 0; each < 10; each++) {
            await theirs('release', await ours.acquire())
            await ours.release(await theirs<string>('acquire', 60_000, MS))
          }
          await ours.release(await theirs<string[]>('acquire', 20))
          expect(await theirs('tryRelease', (await ours.acquire({ permits: 20 }))!)).to.equal(20)
          expect(await redis.get(name)).to.equal('40')
          expect(await theirs('availablePermits')).to.equal(40)
        })

        it(`Leases are the same to Java ${version} and to ours`, async () => {
          const { theirs, ours } = objects()
          await theirs('trySetPermits', 5)
          const permanent = await ours.acquire()
          const leased = await ours.acquire(1, TimeUnit.MINUTES)
          expect(await theirs('getLeaseTime', permanent)).to.equal(-1)
          expect(await theirs('getLeaseTime', leased)).to.be.within(55_000, 60_500)
          expect(await theirs('updateLeaseTime', leased, 30_000, MS)).to.equal(true)
          expect(await ours.getLeaseTime(leased)).to.be.within(25_000, 30_500)
          expect(await ours.updateLeaseTime(await theirs<string>('acquire'), 5, TimeUnit.SECONDS)).to.equal(
            true,
          )
          expect(await theirs('getPermits')).to.equal(await ours.getPermits())
          expect(await theirs('acquiredPermits')).to.equal(await ours.acquiredPermits())
          await ours.setPermits(9)
          expect(await theirs('getPermits')).to.equal(9)
          await theirs('setPermits', 4)
          expect([await ours.getPermits(), await ours.availablePermits()]).to.deep.equal([4, 1])
          await theirs('addPermits', 2)
          await ours.addPermits(-1)
          expect(await theirs('getPermits')).to.equal(5)
        })

        it(`A renewed permit is like a leased one to Java ${version}, and is kept (P7)`, async () => {
          const { theirs, ours } = objects()
          await ours.trySetPermits(1)
          const permit = await ours.acquirePermit()
          const until = performance.now() + 2_500
          while (performance.now() < until) {
            expect(await theirs('availablePermits')).to.equal(0)
            await sleep(100)
          }
          expect(permit.isHeld).to.equal(true)
          // Who knows the id may release it: then it is lost here.
          await theirs('release', permit.id)
          await waitUntil('the loss is found', () => permit.signal.aborted)
        })

        it(`Ours puts right what Java ${version} cannot: twenty thousand expired permits (P4)`, async () => {
          const { theirs, ours, timeouts } = objects()
          await ours.trySetPermits(0)
          for (let batch = 0; batch < 10; batch++) {
            const members = Array.from({ length: 2_000 }, () => [1, randomBytes(16)]).flat()
            await redis.zadd(timeouts, ...(members as never[]))
          }
          expect((await rejection(theirs('availablePermits'))).message).to.match(/unpack|too many results/)
          expect(await ours.availablePermits()).to.equal(20_000)
          expect(await theirs('availablePermits')).to.equal(20_000)
        })

        it(`Java's way to give a list back is all or none there as here (P6)`, async () => {
          const { theirs, ours } = objects()
          await ours.trySetPermits(4)
          const ids = (await ours.acquire({ permits: 3 }))!
          await ours.release(ids[0]!)
          expect(await theirs('tryRelease', ids)).to.equal(0)
          expect(await ours.tryRelease(ids)).to.equal(0)
          expect(await theirs('availablePermits')).to.equal(2)
          expect((await rejection(theirs('release', ids[0]!))).message).to.match(/RedisException/)
        })
      } else if (version === oldest)
        it(`The ids of Java ${version} are text: ours leave them alone, and count them (P2)`, async () => {
          const { theirs, ours, timeouts } = objects()
          await ours.trySetPermits(4)
          const id = await theirs<string>('acquire', 60_000, MS)
          expect(await redis.zscore(timeouts, id)).to.be.a('string')
          expect(await ours.tryRelease(id)).to.equal(false)
          expect(await ours.acquiredPermits()).to.equal(1)
          expect(await theirs('tryRelease', await ours.acquire())).to.equal(false)
          await theirs('release', id)
          expect(await ours.availablePermits()).to.equal(3)
        })

      it(`Java ${version} and ours wake each other for permits, and after a shorter lease (P5)`, async () => {
        const { name, theirs, ours, channel } = objects()
        await ours.trySetPermits(1)
        const mine = await ours.acquire()
        const javaWaits = theirs<string>('acquire')
        await listens(channel)
        expect(await timed(() => Promise.all([ours.release(mine), javaWaits]))).to.be.below(WOKEN_WITHIN_MS)
        const weWait = ours.acquire()
        await asleep(node, `permit ${name}`)
        expect(
          await timed(async () => Promise.all([theirs('release', await javaWaits), weWait])),
        ).to.be.below(WOKEN_WITHIN_MS)
        await ours.updateLeaseTime(await weWait, 60_000)
        const javaWaitsAgain = theirs<string>('acquire')
        await listens(channel)
        await ours.updateLeaseTime(await weWait, 100)
        expect(await timed(() => javaWaitsAgain)).to.be.below(1_000)
      })

      it(`No permit is lost or gained while Java ${version} and Node take and release (P3, P6)`, async () => {
        const { name, ours } = objects()
        await ours.trySetPermits(3)
        const until = performance.now() + 1_500
        const sections = { java: 0, node: 0 }
        await Promise.all(
          Array.from({ length: 6 }, async (_, worker) => {
            const theirs = inJava('getPermitExpirableSemaphore', name, `p${worker}`)
            while (performance.now() < until) {
              // Some leases are over before the permit is released.
              const lease = worker % 3 === 0 ? 3 : 60_000
              if (worker < 3) {
                const id = await theirs<string>('acquire', lease, MS)
                await theirs('tryRelease', id)
                sections.java++
              } else {
                await ours.tryRelease(await ours.acquire(lease, TimeUnit.MILLISECONDS))
                sections.node++
              }
            }
          }),
        )
        await sleep(10)
        expect([await ours.availablePermits(), await ours.acquiredPermits()]).to.deep.equal([3, 0])
        expect(Math.min(sections.java, sections.node)).to.be.greaterThan(20)
      })
    })

    describe('a latch', () => {
      const objects = (named = uniqueName('latch')) => ({
        name: named,
        theirs: inJava('getCountDownLatch', named),
        ours: node.getCountDownLatch(named),
        channel: `redisson_countdownlatch__channel__{${named}}`,
      })

      for (const braces of ['', '{b}c'])
        it(`Java ${version} and ours count one latch down, and both waiters go on${braces && ', with braces in its name as well (L7)'}`, async () => {
          const { name, theirs, ours, channel } = objects(uniqueName('latch') + braces)
          expect(await theirs('trySetCount', 3)).to.equal(true)
          expect(await ours.trySetCount(2)).to.equal(false)
          const javaWaits = inJava('getCountDownLatch', name, 'b')('await')
          const weWait = ours.await()
          await asleep(node, `latch ${name}`)
          await listens(channel, 2)
          await ours.countDown()
          await theirs('countDown')
          expect([await theirs('getCount'), await ours.getCount()]).to.deep.equal([1, 1])
          expect(await stillPending(Promise.race([javaWaits, weWait]), 60)).to.equal(true)
          expect(await timed(() => Promise.all([ours.countDown(), javaWaits, weWait]))).to.be.below(
            WOKEN_WITHIN_MS,
          )
          expect(await redis.exists(name)).to.equal(0)
        })

      it(`Java ${version} waiting goes on when ours delete the latch, and ours when Java does (L5)`, async () => {
        const { name, theirs, ours, channel } = objects()
        await ours.trySetCount(2)
        const javaWaits = inJava('getCountDownLatch', name, 'b')('await')
        await listens(channel)
        expect(await timed(() => Promise.all([ours.delete(), javaWaits]))).to.be.below(WOKEN_WITHIN_MS)
        await ours.trySetCount(2)
        const weWait = ours.await()
        await asleep(node, `latch ${name}`)
        expect(await timed(() => Promise.all([theirs('delete'), weWait]))).to.be.below(WOKEN_WITHIN_MS)
      })

      it(`Five that wait in Java ${version} go on together (L2)`, async () => {
        const { name, ours, channel } = objects()
        await ours.trySetCount(1)
        const waiting = Array.from({ length: 5 }, (_, each) =>
          inJava('getCountDownLatch', name, `l${each}`)('await'),
        )
        await listens(channel)
        await sleep(100)
        expect(await timed(() => Promise.all([ours.countDown(), ...waiting]))).to.be.below(WOKEN_WITHIN_MS)
      })
    })
  }, [version])
