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
  },
}
