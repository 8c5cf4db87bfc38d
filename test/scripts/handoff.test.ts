import { expect } from 'chai'
import { lockChannel } from '../../src/locks/hash-lock-kind'
import { luaSources } from '../../src/scripts/lua.generated'
import { openRedis, rejection } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'

const HANDED_OFF = null
const NOT_HELD = 0
const GIVER = 'this-client:1'
const TAKER = 'this-client:2'
const ANOTHER = 'another-client:1'
const LEASE = 30_000
/** Neither the lease that is asked for nor near to it. */
const STANDING = 60_000

describe('lock/handoff.lua', () => {
  redisAndName()

  const handoff = (lease: number | string = LEASE, giver = GIVER, taker = TAKER) =>
    redis.eval(luaSources['lock/handoff'], 1, name, giver, taker, lease)
  const held = async (owner: string, count = 1, lease = STANDING) => {
    await redis.hset(name, owner, count)
    await redis.pexpire(name, lease)
  }
  const fields = () => redis.hgetall(name)
  const expectLease = async (lease: number) =>
    expect(await redis.pttl(name)).to.be.within(lease - 5_000, lease)

  /** The work leaves the key as it was, to the byte and to its expiry. */
  async function changesNothing(work: () => Promise<unknown>) {
    const before = await redis.dump(name)
    const lease = await redis.pttl(name)
    const result = await work()
    expect(await redis.dump(name)).to.deep.equal(before)
    // A key without expiry has −1 before and after; PEXPIRETIME would say it exactly, and Redis 6.2 has none.
    expect(await redis.pttl(name)).to.be.within(Math.max(lease - 5_000, -2), lease)
    return result
  }

  for (const lease of [20_000, 90_000])
    it(`A handoff replaces the giver by the taker, with its lease: ${lease} ms, not ${STANDING}`, async () => {
      await held(GIVER)
      expect(await handoff(lease)).to.equal(HANDED_OFF)
      expect(await fields()).to.deep.equal({ [TAKER]: '1' })
      await expectLease(lease)
    })

  it('The handoff script gives a lease where the lock had no expiry', async () => {
    await redis.hset(name, GIVER, 1)
    expect(await handoff()).to.equal(HANDED_OFF)
    await expectLease(LEASE)
  })

  it('The handoff script grants one level, whatever the count of the one that ends', async () => {
    await held(GIVER, 3)
    expect(await handoff()).to.equal(HANDED_OFF)
    expect(await fields()).to.deep.equal({ [TAKER]: '1' })
  })

  it('The handoff script publishes nothing', async () => {
    const ear = await openRedis()
    const messages: string[] = []
    ear.on('message', (_, message) => messages.push(message))
    await ear.subscribe(lockChannel(name))
    await held(GIVER)
    await handoff()
    await redis.publish(lockChannel(name), 'the next message')
    await ear.ping()
    expect(messages).to.deep.equal(['the next message'])
  })

  it('The handoff script applied twice counts once', async () => {
    await held(GIVER)
    await handoff()
    expect(await handoff()).to.equal(HANDED_OFF)
    expect(await fields()).to.deep.equal({ [TAKER]: '1' })
    await expectLease(LEASE)
  })

  it('A handoff applied twice leaves a re-entered taker alone, and shortens nothing', async () => {
    await held(TAKER, 2)
    expect(await handoff()).to.equal(HANDED_OFF)
    expect(await fields()).to.deep.equal({ [TAKER]: '2' })
    await expectLease(STANDING)
  })

  it('A handoff applied twice writes both times: WAIT behind the second waits for the first', async () => {
    await held(GIVER)
    await handoff()
    const written = async () => Number(/^rdb_changes_since_last_save:(\d+)/m.exec(await redis.info())![1])
    const before = await written()
    await handoff()
    expect(await written()).to.be.greaterThan(before)
  })

  it('The handoff script late, after both have gone, takes nothing', async () => {
    expect(await changesNothing(() => handoff())).to.equal(NOT_HELD)
    expect(await redis.exists(name)).to.equal(0)
  })

  it('The handoff script late, when another has the lock, changes nothing', async () => {
    await held(ANOTHER)
    expect(await changesNothing(() => handoff())).to.equal(NOT_HELD)
  })

  it('A late handoff, when the taker has handed the lock on, leaves the next taker alone', async () => {
    await held(GIVER)
    await handoff()
    await handoff(STANDING, TAKER, ANOTHER)
    expect(await changesNothing(() => handoff())).to.equal(NOT_HELD)
    expect(await fields()).to.deep.equal({ [ANOTHER]: '1' })
  })

  it('The handoff script of a field that only resembles an owner of the lock changes nothing', async () => {
    await held(`${GIVER}0`)
    expect(await changesNothing(() => handoff())).to.equal(NOT_HELD)
  })

  it('The handoff script fails where the key is no hash, and leaves it alone', async () => {
    await redis.set(name, 'no lock at all', 'PX', STANDING)
    const error = (await changesNothing(() => rejection(handoff()))) as Error
    expect(error.message).to.match(/WRONGTYPE/)
  })

  for (const lease of ['0', '-1', 'soon', ''])
    it(`The handoff script fails before it writes where the lease is ${JSON.stringify(lease)}`, async () => {
      await held(GIVER)
      const error = (await changesNothing(() => rejection(handoff(lease)))) as Error
      expect(error.message).to.match(/lease/)
    })
})
