import { expect } from 'chai'
import { resolveOptions } from '../../../src/api/options'
import { resolveTarget } from '../../../src/redis/target/target'
import { fromRedissonConfig } from '../src/index'

const SINGLE = `
singleServerConfig:
  address: "redis://redis.internal:6380"
  database: 3
  username: "alice"
  password: "p@ss"
  clientName: "orders"
  connectTimeout: 5000
  connectionPoolSize: 64
  subscriptionsPerConnection: 5
  timeout: 3000
  nameMapper: !<com.acme.PrefixMapper> {}
codec: !<org.redisson.codec.Kryo5Codec> {}
threads: 16
lockWatchdogTimeout: 20000
lockWatchdogBatchSize: 50
checkLockSyncedSlaves: false
slavesSyncTimeout: 500
transportMode: "NIO"
`

const options = (config: string | object) => fromRedissonConfig(config, { env: {} }).options
const lost = (config: string | object) => fromRedissonConfig(config, { env: {} }).notCarriedOver
const section = (mode: string, settings: object, root: object = {}) => ({ ...root, [mode]: settings })
const single = (settings: object, root: object = {}) =>
  section('singleServerConfig', { address: 'redis://h:6379', ...settings }, root)

describe('fromRedissonConfig()', () => {
  for (const name of ['com.acme.org.redisson.DefaultMapper', 'org.redisson.config.DefaultPrefixNameMapper'])
    it(`A nameMapper of another class is in notCarriedOver, also ${name}`, () => {
      const text = `singleServerConfig: { address: "redis://h:1", nameMapper: !<${name}> { prefix: a } }`
      expect(lost(text).map((each) => each.name)).to.deep.equal(['singleServerConfig.nameMapper'])
      const own = text.replace(name, 'org.redisson.config.DefaultNameMapper')
      expect(lost(own)).to.deep.equal([])
    })

  it('fromRedissonConfig() takes address, credentials, database and settings of locks', () => {
    expect(options(SINGLE)).to.deep.equal({
      redis: {
        host: 'redis.internal',
        port: 6380,
        db: 3,
        username: 'alice',
        password: 'p@ss',
        connectionName: 'orders',
        connectTimeout: 5000,
      },
      lockWatchdogTimeout: 20000,
      lockWatchdogBatchSize: 50,
      checkLockSyncedSlaves: false,
      slavesSyncTimeout: 500,
    })
  })

  it('A slavesSyncTimeout of 0, without limit in Java, is not carried over, and matters', () => {
    for (const slavesSyncTimeout of [0, '0']) {
      const config = single({}, { slavesSyncTimeout, checkLockSyncedSlaves: false })
      expect(options(config)).to.not.have.property('slavesSyncTimeout')
      expect(lost(config).map(({ name, matters }) => [name, matters])).to.deep.equal([
        ['slavesSyncTimeout', true],
      ])
    }
  })

  it('fromRedissonConfig() names what it does not carry over, and which of it matters', () => {
    const all = lost(SINGLE)
    expect(all.map(({ name }) => name).sort()).to.deep.equal([
      'codec',
      'singleServerConfig.connectionPoolSize',
      'singleServerConfig.nameMapper',
      'singleServerConfig.subscriptionsPerConnection',
      'singleServerConfig.timeout',
      'threads',
      'transportMode',
    ])
    expect(all.filter(({ matters }) => matters).map(({ name }) => name)).to.deep.equal([
      'singleServerConfig.nameMapper',
    ])
    for (const { why } of all) expect(why).to.be.a('string').and.not.empty
  })

  it('fromRedissonConfig() says of a setting it has never heard of that it matters', () => {
    expect(lost(single({ newSetting: 1 }, { another: 2 }))).to.deep.equal([
      { name: 'another', why: 'rlock does not know this setting of Redisson', matters: true },
      {
        name: 'singleServerConfig.newSetting',
        why: 'rlock does not know this setting of Redisson',
        matters: true,
      },
    ])
  })

  it('fromRedissonConfig() ignores settings that are null, as Redisson writes its defaults', () => {
    const config = single({ password: null, clientName: null }, { codec: null })
    expect(options(config)).to.deep.equal({ redis: { host: 'h', port: 6379 } })
    expect(lost(config)).to.deep.equal([])
  })

  it('fromRedissonConfig() carries Sentinel over, with TLS for sentinels and servers alike', () => {
    const { redis } = options(`
sentinelServersConfig:
  masterName: mymaster
  sentinelAddresses: ["rediss://one:26379", "rediss://two:26380"]
  sentinelUsername: watcher
  sentinelPassword: secret
  sentinelsDiscovery: false
  database: 2
  sslVerificationMode: NONE
  natMapper: !<org.redisson.config.HostPortNatMapper>
    hostsPortMap: { "172.17.0.2:6379": "localhost:7001" }
password: other
`)
    const tls = { rejectUnauthorized: false }
    expect(redis).to.deep.equal({
      sentinels: [
        { host: 'one', port: 26379 },
        { host: 'two', port: 26380 },
      ],
      name: 'mymaster',
      tls,
      sentinelTLS: tls,
      enableTLSForSentinelMode: true,
      sentinelUsername: 'watcher',
      sentinelPassword: 'secret',
      updateSentinels: false,
      db: 2,
      natMap: { '172.17.0.2:6379': { host: 'localhost', port: 7001 } },
      password: 'other',
    })
  })

  it('fromRedissonConfig() carries a cluster over', () => {
    const config = section(
      'clusterServersConfig',
      {
        nodeAddresses: ['rediss://one:7000', 'rediss://two:7001'],
        database: 3,
        shardedSubscriptionMode: 'OFF',
        sslVerificationMode: 'STRICT',
      },
      { username: 'alice', password: 'p' },
    )
    expect(options(config)).to.deep.equal({
      redis: {
        nodes: [
          { host: 'one', port: 7000 },
          { host: 'two', port: 7001 },
        ],
        options: { redisOptions: { tls: {}, db: 3, username: 'alice', password: 'p' } },
      },
      shardedSubscriptionMode: 'OFF',
    })
  })

  it('fromRedissonConfig() gives options that Redisson.create takes', () => {
    for (const config of [
      SINGLE,
      single({ address: 'redis+uds:///tmp/redis.sock' }),
      single({ address: 'valkeys://alice:p%40ss@[::1]:6379', sslVerificationMode: 'CA_ONLY' }),
      section('sentinelServersConfig', { masterName: 'm', sentinelAddresses: ['redis://one:26379'] }),
      section('clusterServersConfig', { nodeAddresses: ['redis://one:7000'] }),
    ]) {
      const { redis } = resolveOptions(options(config))
      expect(() => resolveTarget(redis)).to.not.throw()
    }
    expect(options(single({ address: 'valkeys://alice:p%40ss@[::1]:6379' })).redis).to.deep.equal({
      host: '::1',
      port: 6379,
      username: 'alice',
      password: 'p@ss',
      tls: {},
    })
  })

  it('fromRedissonConfig() reads variables by the rule of Redisson, in text and in objects', () => {
    const env = { REDIS_HOST: 'cache' }
    const address = ['redis://$', '{REDIS_HOST}:$', '{REDIS_PORT:-6390}'].join('')
    for (const config of [`singleServerConfig: { address: "${address}" }`, single({ address })])
      expect(fromRedissonConfig(config, { env }).options.redis).to.deep.equal({ host: 'cache', port: 6390 })
    expect(() => fromRedissonConfig(single({ address }), { env: {} })).to.throw(
      TypeError,
      'the variable REDIS_HOST, which is not set',
    )
  })

  const refused: [string, string | object, string][] = [
    [
      'several primaries without Sentinel',
      section('masterSlaveServersConfig', {}),
      'masterSlaveServersConfig',
    ],
    ['replicated servers', section('replicatedServersConfig', {}), 'replicatedServersConfig'],
    ['no servers', { threads: 16 }, 'none of singleServerConfig'],
    ['two modes', single({}, { clusterServersConfig: { nodeAddresses: [] } }), 'both singleServerConfig'],
    ['no address', { singleServerConfig: {} }, 'singleServerConfig.address'],
    ['an address without a scheme', single({ address: 'h:6379' }), 'singleServerConfig.address'],
    ['a database that is no number', single({ database: 'three' }), 'singleServerConfig.database'],
    ['an encrypted password', single({ password: '{aes}M+Tfp' }), 'Redisson PRO'],
    ['two passwords', single({ password: 'a' }, { password: 'b' }), 'at the top of the file'],
    [
      'addresses with and without TLS',
      section('clusterServersConfig', { nodeAddresses: ['redis://h:1', 'rediss://h:2'] }),
      'with and without TLS',
    ],
    ['no YAML', 'singleServerConfig: [', 'is not YAML'],
    ['nothing', '', 'is the text of a redisson.yaml or an object'],
    ['a list', [], 'is the text of a redisson.yaml or an object'],
  ]
  for (const [what, config, message] of refused)
    it(`fromRedissonConfig() refuses ${what}`, () => {
      expect(() => fromRedissonConfig(config, { env: {} })).to.throw(TypeError, message)
    })

  it('fromRedissonConfig() puts no password into a message', () => {
    for (const config of [
      single({ password: ['hunter2'] }),
      single({ password: 'hunter2' }, { password: 'hunter3' }),
      single({ address: 'http://:hunter2@h' }),
      'password: hunter2\n  x: [',
    ])
      expect(() => options(config))
        .to.throw(TypeError)
        .that.has.property('message')
        .not.contains('hunter')
  })

  describe('beside Spring', () => {
    it('fromRedissonConfig() takes the bytes of a file', () => {
      expect(options(Buffer.from(SINGLE))).to.deep.equal(options(SINGLE))
    })

    it(`fromRedissonConfig() knows Spring's \${NAME:default}`, () => {
      const address = `redis://\${REDIS_HOST:localhost}:\${REDIS_PORT:6380}`
      expect(options(`singleServerConfig: { address: "${address}" }`).redis).to.include({
        host: 'localhost',
        port: 6380,
      })
      const { redis } = fromRedissonConfig(single({ address }), { env: { REDIS_HOST: 'other' } }).options
      expect(redis).to.include({ host: 'other', port: 6380 })
    })
  })
})
