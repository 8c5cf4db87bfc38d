/** A setting of the file that is not in the options. */
export interface NotCarriedOver {
  /** Its path in the file, for instance `singleServerConfig.sslTruststore`. */
  readonly name: string
  /** What to do instead, or why nothing needs to be done. */
  readonly why: string
  /** Whether locks or connections may behave differently without it. */
  readonly matters: boolean
}

export type Explained = Omit<NotCarriedOver, 'name'>

const matters = (why: string): Explained => ({ why, matters: true })
const means = (why: string): Explained => ({ why, matters: false })

const POOLS = means('rlock opens two or three connections to a server, and has no pools')
const THREADS = means('Node has one thread')
const PRIMARY = means('locks are asked for at the primary only')
const RETRIES = means('rlock retries within the wait of a call, and for 10 s at most')
const DISCOVERY = means('ioredis follows the servers by itself')
const OTHER_OBJECTS = means('it concerns objects that rlock does not have')
const JAVA_ONLY = means('it concerns the Java process only')
const KEYSTORE = matters('Node reads PEM: give redis.tls { ca, cert, key }, converted by openssl or keytool')
const MAPPER = matters('it is Java code: give the option nameMapper with the same mapping')

/** Settings of Redisson that have no counterpart in options, at the top or in the section of a mode. */
export const NOT_CARRIED: Readonly<Record<string, Explained>> = {
  nameMapper: MAPPER,
  commandMapper: matters('it is Java code, and rlock sends commands by their own names'),
  credentialsResolver: matters('it is Java code: give a username and a password; rlock reads them once'),
  natMapper: matters('only HostPortNatMapper is carried over: give the option natMap of ioredis'),
  slavesSyncTimeout: matters(
    'with 0 Java waits for the replicas without limit: rlock waits for 1000 ms, or for none with the option skipLockSyncedSlaves',
  ),
  natMap: matters('give the option natMap of ioredis'),
  secretKey: matters('rlock reads no encrypted passwords'),
  sslTruststore: KEYSTORE,
  sslTruststorePassword: KEYSTORE,
  sslKeystore: KEYSTORE,
  sslKeystorePassword: KEYSTORE,
  sslKeystoreType: KEYSTORE,
  sslTrustManagerFactory: KEYSTORE,
  sslKeyManagerFactory: KEYSTORE,
  sslProtocols: matters('give redis.tls { minVersion, maxVersion }'),
  sslCiphers: matters('give redis.tls { ciphers }'),
  sslProvider: JAVA_ONLY,
  sslVerificationMode: means('no address of the configuration uses TLS'),
  sslEnableEndpointIdentification: means('no address of the configuration uses TLS'),
  codec: means('what locks store and publish is plain text with every codec'),
  fairLockWaitTimeout: means('fair locks of rlock keep their place in the queue by themselves'),
  protocol: means('rlock speaks RESP2; both protocols see the same locks'),
  useScriptCache: means('rlock always uses the script cache'),
  lazyInitialization: means('Redisson.create connects at once'),
  keepAlive: means('ioredis keeps connections alive by default'),
  tcpKeepAlive: means('ioredis keeps connections alive by default'),
  tcpKeepAliveCount: means('Node has no such setting'),
  tcpKeepAliveIdle: means('Node has no such setting'),
  tcpKeepAliveInterval: means('Node has no such setting'),
  tcpUserTimeout: means('Node has no such setting'),
  pingConnectionInterval: means('rlock sends PING itself where a connection is silent'),
  timeout: RETRIES,
  subscriptionTimeout: RETRIES,
  retryAttempts: RETRIES,
  retryInterval: RETRIES,
  retryDelay: RETRIES,
  reconnectionDelay: RETRIES,
  idleConnectionTimeout: POOLS,
  connectionPoolSize: POOLS,
  connectionMinimumIdleSize: POOLS,
  subscriptionsPerConnection: POOLS,
  subscriptionConnectionPoolSize: POOLS,
  subscriptionConnectionMinimumIdleSize: POOLS,
  slaveConnectionPoolSize: POOLS,
  slaveConnectionMinimumIdleSize: POOLS,
  masterConnectionPoolSize: POOLS,
  masterConnectionMinimumIdleSize: POOLS,
  threads: THREADS,
  nettyThreads: THREADS,
  nettyExecutor: THREADS,
  nettyHook: THREADS,
  executor: THREADS,
  eventLoopGroup: THREADS,
  transportMode: JAVA_ONLY,
  useThreadClassLoader: JAVA_ONLY,
  connectionListener: JAVA_ONLY,
  addressResolverGroupFactory: JAVA_ONLY,
  valkeyCapabilities: JAVA_ONLY,
  readMode: PRIMARY,
  subscriptionMode: PRIMARY,
  loadBalancer: PRIMARY,
  fallbackLoadingToMaster: PRIMARY,
  failedSlaveReconnectionInterval: PRIMARY,
  failedSlaveCheckInterval: PRIMARY,
  failedSlaveNodeDetector: PRIMARY,
  scanInterval: DISCOVERY,
  dnsMonitoringInterval: DISCOVERY,
  dnsMonitoringTimes: DISCOVERY,
  checkSentinelsList: DISCOVERY,
  checkSlaveStatusWithSyncing: DISCOVERY,
  checkSlotsCoverage: DISCOVERY,
  checkMasterLinkStatus: DISCOVERY,
  keepPubSubOrder: OTHER_OBJECTS,
  referenceEnabled: OTHER_OBJECTS,
  reliableTopicWatchdogTimeout: OTHER_OBJECTS,
  minCleanUpDelay: OTHER_OBJECTS,
  maxCleanUpDelay: OTHER_OBJECTS,
  cleanUpKeysAmount: OTHER_OBJECTS,
}

export const NOT_KNOWN = matters('rlock does not know this setting of Redisson')

const OTHER_CLIENTS = means('it concerns Lettuce and Jedis, which Redisson does not use')

/** Settings of Spring Boot below `spring.data.redis` that have no counterpart in options. */
export const NOT_CARRIED_OF_SPRING: Readonly<Record<string, Explained>> = {
  bundle: KEYSTORE,
  database: means('redisson-spring-boot-starter does not use it in a cluster'),
  timeout: RETRIES,
  'connect-timeout': RETRIES,
  'client-type': OTHER_CLIENTS,
  lettuce: OTHER_CLIENTS,
  jedis: OTHER_CLIENTS,
  repositories: OTHER_OBJECTS,
  'max-redirects': DISCOVERY,
}

export const NOT_KNOWN_OF_SPRING = matters('rlock does not know this setting of Spring')

/** Ways to connect that rlock does not have. */
export const REFUSED_MODES: Readonly<Record<string, string>> = {
  masterSlaveServersConfig: 'rlock finds the primary through Sentinel or a cluster, or is given its address',
  replicatedServersConfig: 'rlock finds the primary through Sentinel or a cluster, or is given its address',
  proxyServersConfig: 'rlock connects to servers, and does not choose among proxies',
  multiClusterServersConfig: 'rlock connects to one cluster',
  multiSentinelServersConfig: 'rlock connects to one set of sentinels',
}
