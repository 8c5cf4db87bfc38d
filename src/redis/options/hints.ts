const MEANT = {
  auth: 'password',
  cluster: 'nodes',
  database: 'db',
  hostname: 'host',
  hots: 'host',
  masterName: 'name',
  pass: 'password',
  passwd: 'password',
  pasword: 'password',
  prot: 'port',
  redisOption: 'redisOptions',
  rootNodes: 'nodes',
  sentinel: 'sentinels',
  sentinelRootNodes: 'sentinels',
  server: 'host',
  ssl: 'tls',
  user: 'username',
}
const URL_ITSELF = 'give the URL itself: { redis: url }'

/** The mistakes that people make: names of other clients and languages, and the usual slips. */
export const HINTS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(MEANT).map(([key, name]) => [key, `did you mean ${name}?`] as const),
  ['connectionString', URL_ITSELF],
  ['uri', URL_ITSELF],
  ['url', URL_ITSELF],
  ['socket', 'host, port, path and tls stand in redis itself'],
])
