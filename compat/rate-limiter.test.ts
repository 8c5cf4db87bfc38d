import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { RateType, type Redisson } from '../src/index'
import { createRedisson, openRedis, rejection, uniqueName } from '../test/kit/clients'
import { openUntilTheEnd } from '../test/kit/closing'
import { describeWithJava, ownJavaPeer, REDISSON_VERSIONS } from '../test/kit/java'
import { ownServer, waitUntil } from '../test/kit/servers/index'
import { asleep } from '../test/kit/sleepers'
import { javaObject } from './support/java-methods'

const LONG = 60_000

for (const version of [REDISSON_VERSIONS.newest])
  describeWithJava(`Java ${version} and Node on one rate limiter`, () => {
    openUntilTheEnd()
    const server = ownServer()
    const java = ownJavaPeer(server, { version })
    let redis: Redis
    let node: Redisson

    before(async () => {
      redis = await openRedis(server.url)
      node = await createRedisson({ redis: server.url })
    })

    function objects() {
      const name = uniqueName('limiter')
      const theirs = javaObject(java.thread('a'), 'getRateLimiter', name)
      return { name, theirs, ours: node.getRateLimiter(name) }
    }

    it('A rate that one side sets holds for both, and both read it', async () => {
      const { theirs, ours } = objects()
      expect(await theirs('trySetRate', 'OVERALL', 3, LONG)).to.equal(true)
      expect(await ours.trySetRate(RateType.OVERALL, 9, 1)).to.equal(false)
      expect(await ours.getConfig()).to.include({ type: 'OVERALL', rate: 3, interval: LONG })
      expect(await theirs('tryAcquire', 2, 0)).to.equal(true)
      expect(await ours.tryAcquire(2)).to.equal(false)
      expect(await ours.tryAcquire()).to.equal(true)
      expect(await theirs('tryAcquire')).to.equal(false)
      expect(await theirs('availablePermits')).to.equal(0)
      expect(await ours.availablePermits()).to.equal(0)
    })

    it('The keys that one side writes are those that the other writes', async () => {
      const { name, theirs, ours } = objects()
      const written = async () => ({
        config: await redis.hgetall(name),
        left: await redis.get(`{${name}}:value`),
        sizes: (await redis.zrangeBuffer(`{${name}}:permits`, '0', '-1')).map(
          (member) => member.readUInt32LE(member.length - 4) + 1_000 * (member.length - member[0]!),
        ),
      })
      await ours.trySetRate(RateType.OVERALL, 5, LONG, { keepAliveTime: 2 * LONG })
      await ours.acquire(2)
      const mine = await written()
      await ours.delete()
      await theirs('trySetRate', 'OVERALL', 5, LONG, 2 * LONG)
      await theirs('acquire', 2)
      expect(await written()).to.deep.equal(mine)
    })

    it('Permits that one side took come back to the other when their interval ends', async () => {
      const { theirs, ours } = objects()
      await ours.trySetRate(RateType.OVERALL, 2, 400)
      await theirs('acquire', 2)
      await ours.acquire(2)
      await theirs('acquire', 2)
      expect(await ours.tryAcquire()).to.equal(false)
    })

    it('release(), setRate() and delete() of one side hold for the other', async () => {
      const { name, theirs, ours } = objects()
      await ours.trySetRate(RateType.OVERALL, 2, LONG)
      await theirs('acquire', 2)
      const waiting = ours.acquire()
      await asleep(node, `rate-limiter ${name}`)
      await ours.release(1)
      await waiting
      await theirs('release', 1)
      expect(await ours.tryAcquire()).to.equal(true)
      await theirs('setRate', 'OVERALL', 7, LONG)
      expect(await ours.availablePermits()).to.equal(7)
      await ours.setRate(RateType.PER_CLIENT, 4, LONG)
      expect(await theirs('availablePermits')).to.equal(4)
      expect(await theirs('delete')).to.equal(true)
      expect(await rejection(ours.acquire())).to.include({ code: 'RATE_NOT_SET' })
    })

    it('With a rate for each client the two sides do not count for each other', async () => {
      const { theirs, ours } = objects()
      await theirs('trySetRate', 'PER_CLIENT', 1, LONG)
      expect(await ours.tryAcquire()).to.equal(true)
      expect(await theirs('tryAcquire')).to.equal(true)
      expect(await ours.tryAcquire()).to.equal(false)
      expect(await theirs('tryAcquire')).to.equal(false)
    })

    it('Both sides together never exceed the rate in an interval', async () => {
      const { name, theirs, ours } = objects()
      const [rate, interval] = [10, 300]
      await ours.trySetRate(RateType.OVERALL, rate, interval)
      const times: number[] = []
      const until = Date.now() + 1_500
      const calls = async (take: () => Promise<unknown>) => {
        while (Date.now() < until) {
          const asked = Date.now()
          await take()
          // The grant is not earlier than the question.
          times.push(asked)
        }
      }
      const members = new Map<string, number>()
      const watching = (async () => {
        while (Date.now() < until + interval) {
          const entries = await redis.zrange(`{${name}}:permits`, '0', '-1', 'WITHSCORES')
          for (let at = 0; at < entries.length; at += 2) members.set(entries[at]!, Number(entries[at + 1]))
          await waitUntil('a moment has passed', () => true, 100, 5)
        }
      })()
      await Promise.all([
        calls(() => ours.acquire()),
        calls(() => ours.acquire()),
        calls(() => theirs('acquire')),
        watching,
      ])
      const scores = [...members.values()].sort((one, other) => one - other)
      expect(scores.length).to.be.at.least(2 * rate)
      // Java writes the time at which it asks, which is earlier than the one at which the server answers.
      for (let at = rate; at < scores.length; at++)
        expect(scores[at]! - scores[at - rate]!).to.be.at.least(interval - 50)
    })
  })
