import { expect } from 'chai'
import type { LockLostEvent } from '../../src/index'
import { rejection } from '../kit/clients'
import { clientAndRedis, name, redisson } from '../kit/each-test'
import { expectHandledRejections, warningsOfEachTest } from '../kit/observing'
import { waitUntil } from '../kit/servers/index'

describe("The client's events", () => {
  expectHandledRejections()
  const warnings = warningsOfEachTest()

  clientAndRedis('events')

  async function loseOne() {
    const lock = redisson.getLock(name)
    await lock.lock()
    await lock.forceUnlock()
    await rejection(lock.unlock())
  }

  it('Events of a client reach every listener until it is removed', async () => {
    const seen: string[] = []
    const first = ({ lockName }: LockLostEvent) => seen.push(`first ${lockName}`)
    const second = ({ lockName }: LockLostEvent) => seen.push(`second ${lockName}`)
    expect(redisson.on('lockLost', first).on('lockLost', second)).to.equal(redisson)
    await loseOne()
    expect(redisson.off('lockLost', first)).to.equal(redisson)
    await loseOne()
    expect(seen).to.deep.equal([`first ${name}`, `second ${name}`, `second ${name}`])
  })

  it('A client listener that throws or rejects is an error event, and harms nothing else', async () => {
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
    await waitUntil('both are reported', () => errors.length === 2)
    expect(errors.map(({ cause }) => (cause as Error).message)).to.deep.equal(['thrown', 'rejected'])
    for (const { message } of errors) expect(message).to.include('lockLost')
    expect(later).to.equal(1)
    expect(await redisson.getLock(name).isLocked()).to.equal(false)
    await loseOne()
    expect(later).to.equal(2)
  })

  it('Errors of a client without an error listener end as a process warning', async () => {
    redisson.on('lockLost', () => {
      throw new Error('no listener')
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

  it('A listener that throws what cannot be made text harms no lock (V88)', async () => {
    redisson.on('lockLost', () => {
      throw Object.create(null)
    })
    redisson.on('lockLost', () => {
      throw Symbol('thrown')
    })
    await loseOne()
    await waitUntil('both warnings', () => warnings.length === 2)
    for (const { code } of warnings) expect(code).to.equal('RLOCK_LISTENER_THREW')
  })

  it('A client listener may remove itself or another one', async () => {
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
})
