/** Prepares what all tests of a suite use up, and prepares it anew before a test that is repeated. */
export function preparedOnce(prepare: () => Promise<void>): void {
  before(prepare)
  beforeEach(async function () {
    // The types of mocha hide `currentRetry`, which is in its documentation.
    const test = this.currentTest as unknown as { currentRetry(): number }
    if (test.currentRetry() > 0) await prepare()
  })
}
