/** Drives a real Java Redisson from tests. Everything a test needs is exported here. */
export { type JavaAvailability, javaAvailability } from './availability'
export { type BenchWorkerCommand, javaBenchWorker } from './bench-worker'
export { buildPeer, type PeerBuild } from './build'
export type { RedissonSettings } from './config'
export { describeWithJava } from './describe'
export { ownJavaPeer } from './own-peer'
export { JavaPeer, type JavaPeerOptions, startJavaPeer } from './peer'
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
} from './protocol'
export { JavaThread } from './thread'
export { ALL_REDISSON_VERSIONS, REDISSON_VERSIONS } from './versions'
