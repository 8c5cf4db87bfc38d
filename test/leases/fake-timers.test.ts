import { expect } from 'chai'
import { name, redis, redisAndName } from '../kit/each-test'
import { Program } from '../kit/program'
import { sharedStandalone, waitUntil } from '../kit/servers/index'

/** In processes of their own: what they replace is replaced for good. */
describe('A client whose process has other timers', () => {
  redisAndName()

  async function expectRenewals(name: string) {
    let rises = 0
    let last = await redis.pttl(name)
    await waitUntil(`${name} is renewed again and again`, async () => {
      const ttl = await redis.pttl(name)
      expect(ttl, 'remaining lease').to.be.greaterThan(0)
      if (ttl > last) rises++
      last = ttl
      return rises >= 4
    })
  }

  for (const [kind, title] of [
    ['frozen', 'with fake timers of the kind that Jest and sinon install, of every function they know'],
    ['node:test', 'with the mock timers of node:test'],
    ['numbers', 'with timers that are numbers, as those of jsdom are'],
  ] as const)
    it(`A client renews its locks, wakes its waiters and ends leases ${title}`, async () => {
      const { port } = await sharedStandalone()
      const program = new Program('fake-timers.ts', String(port), name, kind)
      expect(await program.line()).to.equal('used')
      await expectRenewals(name)
      await expectRenewals(`${name}:before`)
      program.say('end')
      expect(await program.line()).to.equal('shut down')
      expect(await program.exit).to.equal(0)
    })
})
