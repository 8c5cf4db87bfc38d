import { REDISSON_VERSIONS } from '../test/kit/java'
import { differenceTests } from './interop/differences'
import { holdingTests } from './interop/holding'
import { lockKindTests } from './interop/lock-kinds'
import { readWriteDifferenceTests } from './interop/read-write-differences'
import { stepDownTests } from './interop/read-write-step-down'
import { readWriteWaitingTests } from './interop/read-write-waiting'
import { waitingTests } from './interop/waiting'
import { describeWorlds } from './support/world'

const { oldest, newest } = REDISSON_VERSIONS

// One JVM for all of these: a start costs more than most tests here.
describeWorlds('Java and Node on one lock', [oldest, newest], { readWrite: true }, (world) => {
  describe('waiting', () => waitingTests(world))
  describe('holding', () => holdingTests(world))
  describe('other kinds', () => lockKindTests(world))
  describe('differing on purpose', () => differenceTests(world))
  describe('waiting for a read-write lock', () => readWriteWaitingTests(world))
  describe('stepping down', () => stepDownTests(world))
  describe('a read-write lock that differs', () => readWriteDifferenceTests(world))
})
