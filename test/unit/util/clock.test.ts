import { AsyncLocalStorage } from 'node:async_hooks'
import { expect } from 'chai'
import { LogicalThread } from '../../../src/ownership/logical-thread'
import { processState } from '../../../src/ownership/process-state'
import { systemClock } from '../../../src/util/clock'

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
})

function keepAlive(): () => void {
  const interval = setInterval(() => {}, 1_000)
  return () => clearInterval(interval)
}
