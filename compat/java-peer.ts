/** Drives a real Java Redisson from tests. Everything a test needs is exported here. */
export { type JavaAvailability, javaAvailability } from './driver/availability'
export { type BenchWorkerCommand, javaBenchWorker } from './driver/bench-worker'
export { buildPeer, type PeerBuild } from './driver/build'
export type { RedissonSettings } from './driver/config'
export { describeWithJava } from './driver/describe'
export { JavaPeer, type JavaPeerOptions, startJavaPeer } from './driver/peer'
export {
  type Answer,
  type ContendOptions,
  type ContentionReport,
  type Evidence,
  JavaError,
  type JavaMethod,
  type LockChoice,
  type LockOptions,
  type LockType,
  type Timing,
  type TryLockOptions,
} from './driver/protocol'
export { JavaThread } from './driver/thread'
export { ALL_REDISSON_VERSIONS, REDISSON_VERSIONS } from './driver/versions'
