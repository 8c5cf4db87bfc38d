import { stopShared } from './shared'

// The tests run in a child of the mocha command, which passes SIGINT on but dies of a SIGTERM alone. Without
// it the run is over, so we end too, and with us every server.
const parent = process.ppid
setInterval(() => {
  if (process.ppid !== parent) process.exit(143)
}, 500).unref()

/** Loaded by mocha's `require`: after the last test nothing we started keeps running. */
export const mochaHooks = {
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
