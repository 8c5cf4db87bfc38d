import { AsyncLocalStorage } from 'node:async_hooks'
import { createRequire } from 'node:module'
import timers from 'node:timers'
import { expect } from 'chai'
import { LogicalThread } from '../../../src/ownership/logical-thread'
import { processState } from '../../../src/ownership/process-state'
import { type Clock, systemClock } from '../../../src/util/clock'

describe('The clock', () => {
  const requests = new AsyncLocalStorage<string>()
  const here = () => ({ request: requests.getStore(), thread: processState.threads.getStore() })

  it('A timer runs outside the request and thread that armed it, and so do its timers', async () => {
    const seen: ReturnType<typeof here>[] = []
    await new Promise<void>((resolve) => {
      const armTwice = () =>
        systemClock.after(1, () => {
          seen.push(here())
          systemClock.after(1, () => {
            seen.push(here())
            resolve()
          })
        })
      requests.run('first', () => processState.threads.run(new LogicalThread(undefined), armTwice))
      // A timer does not keep the process alive, so the test does.
    }).finally(keepAlive())
    const none = { request: undefined, thread: undefined }
    expect(seen).to.deep.equal([none, none])
  })

  it('A timer that was cancelled does not fire, and to cancel one that fired does nothing', async () => {
    const fired: string[] = []
    const stop = keepAlive()
    systemClock.after(1, () => fired.push('cancelled')).cancel()
    await new Promise<void>((resolve) => {
      const timer = systemClock.after(5, () => {
        fired.push('kept')
        timer.cancel()
        resolve()
      })
    }).finally(stop)
    expect(fired).to.deep.equal(['kept'])
  })

  it('A delay that setTimeout does not take is waited for in parts (A9)', () => {
    const { setTimeout } = timers
    const armed: { readonly fire: () => void; readonly delay: number }[] = []
    const fake = (fire: () => void, delay: number) => armed.push({ fire, delay })
    let clock: Clock
    try {
      timers.setTimeout = fake as unknown as typeof setTimeout
      clock = freshClock()
    } finally {
      timers.setTimeout = setTimeout
    }
    let fired = 0
    clock.after(2 ** 31 + 5, () => fired++)
    expect(armed.map(({ delay }) => delay)).to.deep.equal([2 ** 31 - 1])
    armed[0]!.fire()
    expect({ fired, rest: armed[1]!.delay }).to.deep.equal({ fired: 0, rest: 6 })
    armed[1]!.fire()
    expect({ fired, timers: armed.length }).to.deep.equal({ fired: 1, timers: 2 })
  })
})

/** The timers are read at import. */
function freshClock(): Clock {
  const require = createRequire(__filename)
  const paths = ['clock', 'timers'].map((name) => require.resolve(`../../../src/util/${name}`))
  const kept = paths.map((path) => require.cache[path])
  for (const path of paths) delete require.cache[path]
  const fresh = require(paths[0]!) as { systemClock: Clock }
  for (const [at, path] of paths.entries()) require.cache[path] = kept[at]
  return fresh.systemClock
}

function keepAlive(): () => void {
  const interval = setInterval(() => {}, 1_000)
  return () => clearInterval(interval)
}
