import { stopShared } from './shared'

interface Retried {
  currentRetry(): number
}

// The tests run in a child of the mocha command, which passes SIGINT on but dies of a SIGTERM alone. Without
// it the run is over, so we end too, and with us every server.
const parent = process.ppid
setInterval(() => {
  if (process.ppid !== parent) process.exit(143)
}, 500).unref()

/** Loaded by mocha's `require`: after the last test nothing we started keeps running. */
export const mochaHooks = {
  afterEach(this: Mocha.Context): void {
    // The types of mocha hide `currentRetry`, which is in its documentation.
    const test = this.currentTest as (Mocha.Test & Retried) | undefined
    if (test && test.currentRetry() > 0)
      console.error(`repeated, because it failed once: ${test.fullTitle()} (now it ${test.state})`)
  },

  async afterAll(): Promise<void> {
    await stopShared()
    // A worker of a parallel run goes on to the next file, and is ended by mocha.
    if (process.env.MOCHA_WORKER_ID !== undefined) return
    // A test that failed half-way may have left a connection open; the run ends all the same, and says so.
    setTimeout(() => {
      console.error('Something that a test opened is still open 20 s after the last one: ending the run.')
      process.on('exit', () => {
        process.exitCode ||= 1
      })
      process.exit()
    }, 20_000).unref()
  },
}
