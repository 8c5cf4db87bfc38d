import type { Suite } from 'mocha'
import { javaAvailability } from './availability'
import { buildPeer } from './build'
import { REDISSON_VERSIONS } from './versions'

const BUILD_TIMEOUT_MS = 900_000

/**
 * A suite that needs Java peers of these versions. Where no JDK or Maven is, its tests are pending
 * and stderr says why; in CI, where pending tests are not read, they fail.
 */
export function describeWithJava(
  title: string,
  fn: (this: Suite) => void,
  versions: readonly string[] = [REDISSON_VERSIONS.newest],
): Suite {
  return describe('with Java', () => {
    before('build the peers', async function () {
      // A first build downloads; that must not count against a test.
      this.timeout(BUILD_TIMEOUT_MS)
      const java = await javaAvailability()
      if (java.available) {
        for (const version of versions) await buildPeer(version)
      } else if (process.env.CI) {
        throw new Error(`${title} needs Java: ${java.reason}`)
      } else {
        process.stderr.write(`Pending, for want of Java: ${title} (${java.reason})\n`)
        this.skip()
      }
    })
    // A suite of its own, because mocha would still run the `after` hooks of the one skipped above.
    describe(title, fn)
  })
}
