import { describeWithJava, REDISSON_VERSIONS } from '../test/kit/java'
import { readWriteDifferenceTests } from './interop/read-write-differences'
import { stepDownTests } from './interop/read-write-step-down'
import { readWriteWaitingTests } from './interop/read-write-waiting'
import { setUpWorld } from './support/world'

const VERSIONS = [REDISSON_VERSIONS.oldest, REDISSON_VERSIONS.newest]

describeWithJava(
  'Java and Node on one read-write lock',
  () => {
    for (const version of VERSIONS) {
      describe(`with Redisson ${version}`, () => {
        // One JVM for all of these: a start costs more than most tests here.
        const world = setUpWorld(version, { readWrite: true })
        describe('waiting', () => readWriteWaitingTests(world))
        describe('stepping down', () => stepDownTests(world))
        describe('differing', () => readWriteDifferenceTests(world))
      })
    }
  },
  VERSIONS,
)
