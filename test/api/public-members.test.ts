import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { inMemoryRedis } from '../../packages/testing/src/index'
import { Redisson } from '../../src/index'

const REPORT = readFileSync(join(__dirname, '../../etc/rlock.api.md'), 'utf8')
/** What every object of JavaScript may have. */
const OF_THE_LANGUAGE = ['constructor', 'toString', 'toJSON']

/** The members of a class or an interface in the report of the public types, and those that it inherits. */
function publicMembers(type: string): string[] {
  const [, bases = '', body = ''] =
    new RegExp(`^export (?:abstract )?(?:class|interface) ${type}\\b(.*) \\{\n([\\s\\S]*?)^\\}`, 'm').exec(
      REPORT,
    ) ?? []
  const own = [...body.matchAll(/^ {4}(?:readonly |get |static )*(\w+)\??[(<:]/gm)].map(
    ([, member]) => member!,
  )
  const inherited = [...bases.replace(/<[^>]*>/g, '').matchAll(/\b(\w+)/g)].map(([, base]) => base!)
  return [
    ...own,
    ...inherited.filter((word) => !['extends', 'implements'].includes(word)).flatMap(publicMembers),
  ]
}

/** Everything on the prototypes that has a string as its name. */
function methodsOf(object: object): string[] {
  const names = new Set<string>()
  for (let at = Object.getPrototypeOf(object); at && at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at)) names.add(name)
  return [...names].filter((name) => !OF_THE_LANGUAGE.includes(name))
}

describe('Public objects', () => {
  let redisson: Redisson

  beforeEach(async () => {
    redisson = await Redisson.create({ redis: inMemoryRedis() })
  })
  afterEach(() => redisson.shutdown({ timeout: 0 }))

  const locks = () => [redisson.getLock('order:1'), redisson.getLock('order:2')] as const
  const kinds: Record<string, [type: string, get: () => object | Promise<object | undefined>]> = {
    'the client': ['Redisson', () => redisson],
    getLock: ['RLock', () => redisson.getLock('order:1')],
    getReadWriteLock: ['RReadWriteLock', () => redisson.getReadWriteLock('order:1')],
    'a read lock': ['RLock', () => redisson.getReadWriteLock('order:1').readLock()],
    'a write lock': ['RLock', () => redisson.getReadWriteLock('order:1').writeLock()],
    getFairLock: ['RFairLock', () => redisson.getFairLock('order:1')],
    getNonReentrantFairLock: ['RFairLock', () => redisson.getNonReentrantFairLock('order:1')],
    getFencedLock: ['RFencedLock', () => redisson.getFencedLock('order:1')],
    getNonReentrantLock: ['RLock', () => redisson.getNonReentrantLock('order:1')],
    getSpinLock: ['RLock', () => redisson.getSpinLock('order:1')],
    // It has Java's methods of every lock, and its type names those that make sense.
    getTokenLock: ['RLock', () => redisson.getTokenLock('order:1')],
    getMultiLock: ['RMultiLock', () => redisson.getMultiLock(...locks())],
    getRedLock: ['RRedLock', () => redisson.getRedLock(...locks())],
    getSemaphore: ['RSemaphore', () => redisson.getSemaphore('order:1')],
    getPermitExpirableSemaphore: [
      'RPermitExpirableSemaphore',
      () => redisson.getPermitExpirableSemaphore('order:1'),
    ],
    getCountDownLatch: ['RCountDownLatch', () => redisson.getCountDownLatch('order:1')],
    getRateLimiter: ['RRateLimiter', () => redisson.getRateLimiter('order:1')],
    'a hold': ['LockHold', () => redisson.getLock('order:3').acquire()],
    'a hold of a fenced lock': ['FencedLockHold', () => redisson.getFencedLock('order:4').acquire()],
    'a hold of a multi lock': ['MultiLockHold', () => redisson.getMultiLock(...locks()).acquire()],
    'a permit': [
      'Permit',
      async () => {
        const semaphore = redisson.getPermitExpirableSemaphore('order:5')
        await semaphore.trySetPermits(1)
        return await semaphore.acquirePermit()
      },
    ],
  }

  it('are all here', () => {
    const getters = methodsOf(redisson).filter((name) => /^get(?!Id$)/.test(name))
    expect(Object.keys(kinds)).to.include.members(getters)
  })

  for (const [what, [type, get]] of Object.entries(kinds))
    it(`${what} has no method beside those of ${type}`, async () => {
      const documented = publicMembers(type)
      expect(documented, `members of ${type} in etc/rlock.api.md`).to.not.be.empty
      const object = (await get())!
      expect(methodsOf(object).filter((name) => !documented.includes(name))).to.deep.equal([])
    })
})
