import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect } from 'chai'
import type Redis from 'ioredis'
import { openRedis, rejection } from '../test/kit/clients'
import { openUntilTheEnd } from '../test/kit/closing'
import { describeWithJava, JavaError, REDISSON_VERSIONS, startJavaPeer } from '../test/kit/java'
import { ownServer } from '../test/kit/servers/index'

const VERSIONS = [REDISSON_VERSIONS.oldest, REDISSON_VERSIONS.newest]

// Interop tests use what the peer does; these tests are of its process.
describeWithJava(
  "the Java peer's process",
  () => {
    openUntilTheEnd()
    const server = ownServer()
    let redis: Redis
    before(async () => {
      redis = await openRedis(server.url)
    })

    beforeEach(() => redis.flushall())

    for (const version of VERSIONS) {
      it(`A killed Java peer ${version} leaves its lock until the lease ends, and its calls reject`, async () => {
        const doomed = await startJavaPeer({
          version,
          redis: server.url,
          settings: { lockWatchdogTimeout: 1500 },
        })
        await doomed.thread('a').lock('order')
        const owner = await doomed.thread('a').owner()
        const unanswered = rejection(doomed.thread('b').lock('order'))
        await using peer = await startJavaPeer({ version, redis: server.url })
        expect(peer.version).to.equal(version)
        const waiting = peer.thread('a').lock('order')
        await doomed.kill()
        expect((await unanswered).message).to.equal('lock: the Java peer ended (SIGKILL)')
        expect((await rejection(doomed.thread('a').threadId())).message).to.contain('ended')
        expect(await redis.hkeys('order')).to.deep.equal([owner])
        await waiting
        expect(await peer.thread('a').isHeldByCurrentThread('order')).to.equal(true)
        await peer.thread('a').unlock('order')
      })

      it(`The Java peer ${version} renews while it runs and not while it is paused`, async () => {
        await using sleeper = await startJavaPeer({
          version,
          redis: server.url,
          settings: { lockWatchdogTimeout: 1000 },
        })
        await sleeper.thread('a').lock('order')
        await sleep(1500)
        expect(await redis.pttl('order')).to.be.within(300, 1000)
        sleeper.pause()
        await sleep(1300)
        expect(await redis.exists('order')).to.equal(0)
        sleeper.resume()
        expect(await sleeper.thread('a').isHeldByCurrentThread('order')).to.equal(false)
      })
    }

    it('The Java peer names the settings that a Redisson does not have', async () => {
      const { oldest: version } = REDISSON_VERSIONS
      const settings = { shardedSubscriptionMode: 'ON', lockWatchdogTimeout: 5000 } as const
      await using peer = await startJavaPeer({ version, redis: server.url, settings })
      expect(peer.unsupported).to.deep.equal(['shardedSubscriptionMode'])
    })

    it('The Java peer neither keeps its process alive nor outlives it', async () => {
      const script = `require('./test/kit/java').startJavaPeer({ redis: '${server.url}' }).then((peer) => {
        console.log(peer.pid)
        peer.pause()
      })`
      const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', '-e', script])
      await sleep(100)
      expect(isRunning(Number(stdout))).to.equal(false)
    })

    it('The Java peer says why it could not start', async () => {
      const settings = { retryAttempts: 0, retryInterval: 10 }
      const error = await rejection(startJavaPeer({ redis: 'redis://127.0.0.1:1', settings }))
      expect(error).to.be.instanceOf(JavaError)
      expect(error.message).to.match(/org\.redisson\.client\.RedisConnectionException: .*127\.0\.0\.1:1\b/)
    })
  },
  VERSIONS,
)

/** A zombie does not run; it only waits for somebody to ask how it ended. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
