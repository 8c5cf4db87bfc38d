import { describeWithJava, REDISSON_VERSIONS } from '../test/kit/java'
import { differenceTests } from './interop/differences'
import { holdingTests } from './interop/holding'
import { lockKindTests } from './interop/lock-kinds'
import { waitingTests } from './interop/waiting'
import { setUpWorld } from './support/world'

const VERSIONS = [REDISSON_VERSIONS.oldest, REDISSON_VERSIONS.newest]

describeWithJava(
  'Java and Node on one lock',
  () => {
    for (const version of VERSIONS) {
      describe(`with Redisson ${version}`, () => {
        // One JVM for all of these: a start costs more than most tests here.
        const world = setUpWorld(version)
        describe('waiting', () => waitingTests(world))
        describe('holding', () => holdingTests(world))
        describe('other kinds', () => lockKindTests(world))
        describe('differing on purpose', () => differenceTests(world))
      })
    }
  },
  VERSIONS,
)
