import { expect } from 'chai'
import type { LockLostEvent, Redisson, RenewalFailedEvent } from '../../src/index'
import { sharedStandalone, startProxy, waitUntil } from '../servers'
import { closeAll, createRedisson, rejection, uniqueName } from '../support/clients'
import { NobodysErrors } from '../support/observing'

describe("the client's events", () => {
  let redisson: Redisson
  let name: string
  const nobodys = new NobodysErrors()
  let warnings: (Error & { code?: string })[]
  const note = (warning: Error) => {
    warnings.push(warning)
  }

  beforeEach(async () => {
    nobodys.watch()
    redisson = await createRedisson()
    name = uniqueName('events')
    warnings = []
    process.on('warning', note)
  })
  afterEach(async () => {
    await closeAll()
    process.off('warning', note)
    await nobodys.expectNone()
  })

  async function loseOne() {
    const lock = redisson.getLock(name)
    await lock.lock()
    await lock.forceUnlock()
    await rejection(lock.unlock())
  }

  it('tell every listener until it is removed', async () => {
    const seen: string[] = []
    const first = ({ lockName }: LockLostEvent) => seen.push(`first ${lockName}`)
    const second = ({ lockName }: LockLostEvent) => seen.push(`second ${lockName}`)
    expect(redisson.on('lockLost', first).on('lockLost', second)).to.equal(redisson)
    await loseOne()
    expect(redisson.off('lockLost', first)).to.equal(redisson)
    await loseOne()
    expect(seen).to.deep.equal([`first ${name}`, `second ${name}`, `second ${name}`])
  })

  it('of a listener that throws, or rejects, are told as errors, and harm neither locks nor other listeners', async () => {
    const errors: Error[] = []
    let later = 0
    redisson.on('lockLost', () => {
      throw new Error('thrown')
    })
    redisson.on('lockLost', async () => {
      await Promise.resolve()
      throw new Error('rejected')
    })
    redisson.on('lockLost', () => {
      later++
    })
    redisson.on('error', (error) => errors.push(error))
    await loseOne()
    await waitUntil('both are told', () => errors.length === 2)
    expect(errors.map(({ cause }) => (cause as Error).message)).to.deep.equal(['thrown', 'rejected'])
    for (const { message } of errors) expect(message).to.include('lockLost')
    expect(later).to.equal(1)
    expect(await redisson.getLock(name).isLocked()).to.equal(false)
    await loseOne()
    expect(later).to.equal(2)
  })

  it('without an error listener, end as a process warning, also when it is the error listener that throws', async () => {
    redisson.on('lockLost', () => {
      throw new Error('nobody listens')
    })
    await loseOne()
    await waitUntil('the warning', () => warnings.length === 1)
    redisson.on('error', () => {
      throw new Error('I fail, too')
    })
    redisson.on('error', async () => {
      throw 'not even an Error'
    })
    await loseOne()
    await waitUntil('both warnings', () => warnings.length === 3)
    for (const { code } of warnings) expect(code).to.equal('RLOCK_LISTENER_THREW')
    expect(warnings[1]!.message).to.include('I fail, too')
    expect(warnings[2]!.message).to.include('not even an Error')
  })

  it('are harmless when a listener removes itself, or another', async () => {
    const seen: string[] = []
    const last = () => seen.push('last')
    const once = () => {
      seen.push('once')
      redisson.off('lockLost', once)
    }
    redisson.on('lockLost', once).on('lockLost', last)
    await loseOne()
    await loseOne()
    expect(seen).to.deep.equal(['once', 'last', 'last'])
  })

  it('lockLost and renewalFailed: which lock, which hold, and why', async () => {
    const proxy = await startProxy(await sharedStandalone())
    try {
      const brief = await createRedisson({ redis: proxy.url, lockWatchdogTimeout: 4_500 })
      const failed: RenewalFailedEvent[] = []
      const lost: LockLostEvent[] = []
      const errors: Error[] = []
      brief
        .on('renewalFailed', (event) => failed.push(event))
        .on('lockLost', (event) => lost.push(event))
        .on('error', (error) => errors.push(error))
      const hold = await brief.getLock(name).acquire()
      const { signal, threadId } = hold
      proxy.refuse()
      proxy.cut()
      await waitUntil('the loss is noticed', () => signal.aborted)
      expect(failed.map((event) => [event.lockName, event.threadId])).to.deep.equal([[name, threadId]])
      expect(failed[0]!.error).to.be.instanceOf(Error)
      expect(lost).to.have.length(1)
      expect(lost[0]).to.include({ lockName: name, threadId, reason: 'lease' })
      expect(lost[0]!.error).to.equal(signal.reason)
      expect(errors).to.not.be.empty
    } finally {
      await proxy.stop()
    }
  })
})
