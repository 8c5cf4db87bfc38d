import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { lockChannel } from '../../src/locks/hash-lock-kind'
import type { Redisson } from '../../src/redisson'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { freshName, name } from '../kit/each-test'
import { waitUntil } from '../kit/servers/index'
import { behindSentinel, DB, type Place, standalone } from './app-in-database'

/** Each way; between the SELECT and the INFO of one handshake a script has time to end. */
const DELAY = 40
const ROUNDS = 12

/** Keeps the server busy for so long, and counts nothing. */
const SLOW = `
local function now() local t = redis.call('TIME') return t[1] * 1000000 + t[2] end
local ends = now() + ARGV[1] * 1000
while now() < ends do end
return 1`

const places: [string, () => Promise<Place>][] = [
  ['on a single server', standalone],
  ['behind Sentinel', behindSentinel],
]

for (const [where, open] of places)
  describe(`A connection whose SELECT fails, ${where}`, () => {
    freshName()
    let place: Place
    let inDatabase: Redis
    let inZero: Redis
    let holder: Redisson
    let app: Redisson
    let reported: Error[]

    beforeEach(async () => {
      place = await open()
      const url = `redis://${place.server.host}:${place.server.port}`
      inDatabase = await openRedis(`${url}/${DB}`)
      inZero = await openRedis(url)
      holder = await createRedisson({ redis: `${url}/${DB}` })
      app = await createRedisson({ redis: place.app })
      reported = []
      app.on('error', (error) => reported.push(error))
      // Opens what the app opens no sooner than it needs it.
      await app.getLock(uniqueName()).withLock(() => {})
    })

    const nothingInZero = async () => expect(await inZero.dbsize(), 'keys in database 0').to.equal(0)
    const mayNotSelect = () => inZero.call('ACL', 'SETUSER', 'app', '-select')
    const maySelect = () => inZero.call('ACL', 'SETUSER', 'app', '+select')

    async function locksAgain(name: string): Promise<void> {
      await waitUntil('the app can lock again', async () => await app.getLock(name).tryLock(1_000))
      expect(await inDatabase.exists(name)).to.equal(1)
      await app.getLock(name).forceUnlock()
    }

    it(`A connection of a user that may no longer SELECT is not used after a kill, ${where}`, async () => {
      const [name, free] = [uniqueName(), uniqueName()]
      const held = await holder.getLock(name).acquire()
      const waiting = rejection(app.getLock(name).lock())
      await mayNotSelect()
      await inZero.call('CLIENT', 'KILL', 'USER', 'app')
      await waitUntil('the outage is reported', () =>
        reported.some(({ message }) => message.includes('NOPERM')),
      )
      expect((await waiting).message).to.match(/NOPERM.*select.*database 5/)
      expect((await rejection(app.getLock(name).tryLock(2_000))).message).to.match(/NOPERM/)
      expect((await rejection(app.getLock(free).lock())).message).to.match(/NOPERM/)
      await nothingInZero()
      expect(await inDatabase.keys('*')).to.deep.equal([name])
      expect(held.isHeld).to.equal(true)
      expect(reported.filter(({ message }) => message.includes('NOPERM'))).to.have.length(1)

      await maySelect()
      await locksAgain(free)
      const woken = waitUntil('the app has it', () => app.getLock(name).tryLock(10_000))
      await held.unlock()
      await woken
      expect(Object.keys(await inDatabase.hgetall(name))[0]).to.match(new RegExp(`^${app.getId()}`))
      await nothingInZero()
    })

    it('A user that may no longer SELECT is refused in flight, and the result is released', async () => {
      place.proxy.stallReplies()
      const waiting = rejection(app.getLock(name).lock())
      await waitUntil('the lock is taken', async () => (await inDatabase.exists(name)) === 1)
      await mayNotSelect()
      place.proxy.cut()
      place.proxy.resume()
      const error = await waiting
      expect(error.message).to.match(/NOPERM.*select.*database 5/)
      expect(error.code).to.equal('REDIS_REFUSED')
      await maySelect()
      await waitUntil('the lock is free', async () => (await inDatabase.exists(name)) === 0)
      await nothingInZero()
    })

    it(`An unanswered command is sent again in its own database, once selected, ${where}`, async () => {
      await mayNotSelect()
      const dropped = place.proxy.dropNextReply(([command]) => command?.startsWith('eval') ?? false)
      const locking = app.getLock(name).acquire()
      locking.catch(() => {})
      await dropped
      await waitUntil('the outage is reported', () =>
        reported.some(({ message }) => message.includes('NOPERM')),
      )
      await sleep(500)
      await nothingInZero()
      await maySelect()
      const hold = await locking.catch(() => undefined)
      await nothingInZero()
      if (hold) {
        expect(await inDatabase.exists(name)).to.equal(1)
        await hold.unlock()
      }
      await waitUntil('the lock is free', async () => (await inDatabase.exists(name)) === 0)
      await nothingInZero()
    })

    it(`A release is not sent to another database when a SELECT fails, ${where}`, async () => {
      const hold = await app.getLock(name).acquire()
      await mayNotSelect()
      await inZero.call('CLIENT', 'KILL', 'USER', 'app')
      await waitUntil('the outage is reported', () =>
        reported.some(({ message }) => message.includes('NOPERM')),
      )
      expect((await rejection(hold.unlock())).message).to.match(/NOPERM/)
      expect(await inDatabase.exists(name)).to.equal(1)
      await maySelect()
      await waitUntil('it is released all the same', async () => (await inDatabase.exists(name)) === 0)
      await nothingInZero()
    })

    it(`A connection that hears messages and whose SELECT fails is not used, ${where}`, async () => {
      const held = await holder.getLock(name).acquire()
      const waiting = app.getLock(name).acquire()
      const ofTheApp = async () => {
        const list = String(await inZero.client('LIST')).split('\n')
        return list.filter((line) => / user=app /.test(line))
      }
      const hears = async () => (await inZero.pubsub('NUMSUB', lockChannel(name)))[1] === 1
      await waitUntil('the app waits', hears)
      await mayNotSelect()
      const hearing = (await ofTheApp()).find((line) => / sub=[1-9]/.test(line))!
      await inZero.client('KILL', 'ID', Number(/id=(\d+)/.exec(hearing)![1]))
      await waitUntil('the outage is reported', () =>
        reported.some(({ message }) => message.includes('NOPERM')),
      )
      expect(await hears()).to.equal(false)
      await held.unlock()
      // While nothing can be heard, the first waiter looks once a second.
      await (await waiting).unlock()
      expect(reported.filter(({ message }) => message.includes('NOPERM'))).to.have.length(1)
      await maySelect()
      const again = await holder.getLock(name).acquire()
      const waitingAgain = app.getLock(name).acquire()
      await waitUntil('the app hears again', hears)
      await again.unlock()
      await (await waitingAgain).unlock()
      for (const line of await ofTheApp()) expect(line).to.contain(` db=${DB} `)
      await nothingInZero()
    })

    it(`A reopened connection to a busy server is not used without its SELECT, ${where}`, async () => {
      await inZero.config('SET', 'lua-time-limit', 5)
      place.proxy.delay(DELAY)
      const held = await holder.getLock(name).acquire({ leaseTime: 600_000 })
      for (let round = 0; round < ROUNDS; round++) {
        const lasting = 150 + Math.random() * 60
        const slow = inZero.eval(SLOW, 0, lasting)
        place.proxy.cut()
        const taken = await app
          .getLock(name)
          .tryLock(lasting + 600)
          .catch(() => false)
        await slow
        expect(taken, `a second holder in round ${round}`).to.equal(false)
        expect(held.isHeld).to.equal(true)
        await nothingInZero()
      }
      place.proxy.delay(0)
      await locksAgain(uniqueName())
      await nothingInZero()
    })
  })
