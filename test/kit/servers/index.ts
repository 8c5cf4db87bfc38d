export { type Ability, hasClusterDatabases, needs, serverHas, slowLoading } from './abilities'
export { type Address, sameAddress } from './address'
export { type ClusterOptions, type ClusterSetup, startCluster } from './cluster'
export { inContainersWherePossible, skipInContainers } from './containers'
export { findLauncher, findServer, type Launcher, type RunningServer } from './find-server'
export type { LateCopy } from './late-copy'
export type { CommandPredicate } from './lost-reply'
export {
  freshCluster,
  freshSentinel,
  freshServer,
  own,
  ownCluster,
  ownSentinel,
  ownServer,
} from './own-server'
export type { RedisNode } from './redis-node'
export { without } from './rights'
export { type SentinelSetup, startSentinel } from './sentinel'
export { type SharedServer, sharedCluster, sharedSentinel, sharedStandalone, stopShared } from './shared'
export { type Standalone, type StandaloneOptions, startStandalone, startStandalones } from './standalone'
export { startProxy, type TcpProxy } from './tcp-proxy'
export { waitUntil } from './wait-until'
export { withClient } from './with-client'
