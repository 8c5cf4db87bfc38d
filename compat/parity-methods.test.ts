import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { ReentrantLock } from '../src/engine/reentrant-lock'
import { createRedisson, openRedis, uniqueName } from '../test/kit/clients'
import {
  describeWithJava,
  type JavaMethod,
  type JavaPeer,
  REDISSON_VERSIONS,
  startJavaPeer,
} from '../test/kit/java'
import { sharedStandalone } from '../test/kit/servers/index'
import { JAVA_METHODS, READ_WRITE_METHODS } from './support/java-methods'

const VERSIONS = [REDISSON_VERSIONS.oldest, REDISSON_VERSIONS.newest]
const INTERFACES = [
  'org.redisson.api.RLock',
  'org.redisson.api.RLockAsync',
  'java.util.concurrent.locks.Lock',
]
const READ_WRITE_INTERFACES = ['org.redisson.api.RReadWriteLock', 'java.util.concurrent.locks.ReadWriteLock']
const PARITY = readFileSync(join(__dirname, '..', 'docs', 'reference', 'java-parity.md'), 'utf8')

describeWithJava(
  "every method of Java's lock interfaces",
  () => {
    const seen = new Set<string>()

    for (const version of VERSIONS) {
      it(`of Redisson ${version} has its counterpart here, or is said to have none`, async () => {
        await using peer = await startJavaPeer({ version, redis: (await sharedStandalone()).url })
        const signatures = await signaturesOf(peer)
        // As many as an RLock cannot be without: the question must have been understood.
        expect(signatures).to.include.members(['lock()', 'tryLock(long, long, TimeUnit)', 'newCondition()'])
        expect(signatures.filter((signature) => !(signature in JAVA_METHODS))).to.deep.equal([])
        for (const signature of signatures) seen.add(signature)
        // Its own and the inherited ones; what its sides can do is the above.
        expect(await signaturesOf(peer, READ_WRITE_INTERFACES)).to.deep.equal(Object.keys(READ_WRITE_METHODS))
      })
    }

    it('is in one of them: none is made up', () => {
      expect(Object.keys(JAVA_METHODS).filter((signature) => !seen.has(signature))).to.deep.equal([])
    })
  },
  VERSIONS,
)

describeWithJava("every method of Java's fenced lock", () => {
  it('stands in docs/reference/java-parity.md', async () => {
    await using peer = await startJavaPeer({ redis: (await sharedStandalone()).url })
    const fenced = ['org.redisson.api.RFencedLock', 'org.redisson.api.RFencedLockAsync']
    const besides = (await signaturesOf(peer, fenced)).filter((signature) => !(signature in JAVA_METHODS))
    expect(besides).to.include.members(['getToken()', 'tryLockAndGetToken(long, long, TimeUnit)'])
    expect(besides.filter((signature) => !PARITY.includes(`\`${signature}\``))).to.deep.equal([])
  })
})

/** What every object of Redisson has is absent here, and the page says so once. */
const OF_EVERY_OBJECT = ['RObject', 'RObjectAsync', 'RExpirable', 'RExpirableAsync'].map(
  (name) => `org.redisson.api.${name}`,
)

for (const name of ['RSemaphore', 'RPermitExpirableSemaphore', 'RCountDownLatch'])
  describeWithJava(`every method of Java's ${name}`, () => {
    it('stands in docs/reference/java-parity.md', async () => {
      await using peer = await startJavaPeer({ redis: (await sharedStandalone()).url })
      const common = new Set(await signaturesOf(peer, OF_EVERY_OBJECT))
      const own = (await signaturesOf(peer, [`org.redisson.api.${name}`, `org.redisson.api.${name}Async`]))
        .filter((signature) => !common.has(signature))
        // An async form is the same method here; the peer shows a list by the end of its type.
        .map((signature) => signature.replace('Async(', '(').replace('String>', 'List'))
      expect(own).to.include(
        name === 'RCountDownLatch' ? 'await(long, TimeUnit)' : 'tryAcquire(long, TimeUnit)',
      )
      expect(own.filter((signature) => !PARITY.includes(`\`${signature}\``))).to.deep.equal([])
    })
  })

describe('the counterparts of the methods of Java', () => {
  it('are methods of the lock that getLock() gives', async () => {
    const lock = (await createRedisson()).getLock(uniqueName())
    expect(lock).to.be.instanceOf(ReentrantLock)
    for (const [signature, counterpart] of Object.entries(JAVA_METHODS)) {
      const name = signature.slice(0, signature.indexOf('(')) as keyof ReentrantLock
      if ('ours' in counterpart) expect(ReentrantLock.prototype[counterpart.ours]).to.be.a('function')
      else expect(ReentrantLock.prototype[name], signature).to.equal(undefined)
    }
  })

  for (const [signature, counterpart] of Object.entries(JAVA_METHODS)) {
    if (!('ours' in counterpart)) continue
    it(`${signature} does here what it says, on a lock and on either side of a read-write lock`, async () => {
      const redisson = await createRedisson()
      const redis = await openRedis()
      const both = redisson.getReadWriteLock(uniqueName())
      const { held, call, ours } = counterpart
      for (const lock of [redisson.getLock(uniqueName()), both.readLock(), both.writeLock()]) {
        await redisson.run(async () => {
          if (held) await lock.lock(held === 'threadId' ? { threadId: 7 } : {})
          const answer = await call(lock, 7)
          const locks = ours === 'lock' || ours === 'tryLock'
          expect(await redis.exists(lock.getName())).to.equal(locks ? 1 : 0)
          expect(answer).to.equal(ANSWERS[ours] ?? (ours === 'getName' ? lock.getName() : undefined))
          if (locks) await lock.forceUnlock()
        })
      }
    })
  }

  it('are methods of getReadWriteLock(), and give the same side each time', async () => {
    const both = (await createRedisson()).getReadWriteLock(uniqueName())
    for (const side of Object.values(READ_WRITE_METHODS)) {
      expect(both[side]()).to.be.instanceOf(ReentrantLock)
      expect(both[side]()).to.equal(both[side]())
      expect(both[side]().getName()).to.equal(both.getName())
    }
    expect(both.readLock()).to.not.equal(both.writeLock())
  })

  it('stand in docs/reference/java-parity.md, and so do those without', () => {
    const all = [...Object.keys(JAVA_METHODS), ...Object.keys(READ_WRITE_METHODS)]
    const missing = all.filter((signature) => !PARITY.includes(`\`${signature}\``))
    expect(missing).to.deep.equal([])
  })
})

/** Of each on a lock that is free before, or just released. */
const ANSWERS: Record<string, unknown> = {
  tryLock: true,
  forceUnlock: false,
  isLocked: false,
  isHeldByCurrentThread: false,
  isHeldByThread: false,
  getHoldCount: 0,
  remainTimeToLive: -2,
}

async function signaturesOf(peer: JavaPeer, interfaces = INTERFACES): Promise<string[]> {
  const methods = await Promise.all(interfaces.map((each) => peer.describe(each)))
  return [...new Set(methods.flat().map(signatureOf))].sort()
}

function signatureOf({ name, parameters }: JavaMethod): string {
  return `${name}(${parameters.map((type) => type.slice(type.lastIndexOf('.') + 1)).join(', ')})`
}
