// A virtual machine of CI may stand still for a second, which is longer than the short leases of the tests. So CI repeats a test that
// failed, and names it in the last lines of the output. Elsewhere it fails at once.
module.exports = {
  extension: ['ts'],
  'node-option': ['import=tsx', 'disable-warning=RLOCK_SHORT_WATCHDOG'],
  require: ['./test/kit/servers/root-hooks.ts', './test/kit/closing.ts', './test/kit/repeated-tests.ts'],
  timeout: 60_000,
  retries: process.env.RLOCK_TEST_REPEAT ? 1 : 0,
  'forbid-only': true,
  parallel: true,
  // Most files wait for leases and failovers, so that two cores run six of them.
  jobs: 6,
}
