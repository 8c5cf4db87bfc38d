import { expect } from 'chai'
import { fromRedissonConfig } from '../src/index'

const SERVICE = `
server: { port: "\${PORT}" }
spring:
  application: { name: orders }
  datasource: { url: "\${DATABASE}" }
  data:
    redis:
      host: "\${REDIS_HOST:localhost}"
      port: 6380
      database: 2
      clientName: orders
      timeout: 3s
      connect-timeout: 2s
      client-type: lettuce
      lettuce: { pool: { max-active: "\${POOL}" } }
      repositories: { enabled: false }
logging: { level: { root: INFO } }
`
const REDISSON = 'singleServerConfig: { address: "redis://h:1", database: 3 }'

const read = (config: string | object, env = {}) => fromRedissonConfig(config, { env })
const options = (config: string | object) => read(config).options
const lost = (config: string | object) => read(config).notCarriedOver
const below = (key: string, redis: string) =>
  `${key
    .split('.')
    .map((name, depth) => `${'  '.repeat(depth)}${name}:`)
    .join('\n')} ${redis}`

describe("fromRedissonConfig() of Spring Boot's application.yml", () => {
  it('A whole application.yml is read as it is, and nothing that matters is left', () => {
    const { options, notCarriedOver } = read(SERVICE)
    expect(options.redis).to.deep.equal({ host: 'localhost', port: 6380, db: 2, connectionName: 'orders' })
    expect(notCarriedOver.filter(({ matters }) => matters)).to.deep.equal([])
    expect(notCarriedOver.map(({ name }) => name)).to.deep.equal(
      ['timeout', 'connect-timeout', 'client-type', 'lettuce', 'repositories'].map(
        (name) => `spring.data.redis.${name}`,
      ),
    )
  })

  for (const [title, text] of [
    ['flat keys', 'spring.data.redis.host: h\nspring.data.redis.port: 1\nspring.data.redis.client-name: me'],
    ['a flat key above a map', 'spring.data.redis: { host: h, port: 1, clientName: me }'],
    [
      'flat keys within maps',
      'spring:\n  data.redis: { host: h, client_name: me }\n  data: { redis.port: 1 }',
    ],
    ['quoted keys', '"spring.data": { redis: { host: h, port: 1, client-name: me } }'],
  ] as const)
    it(`Keys with dots are read as Spring reads them: ${title}`, () => {
      expect(options(text).redis).to.deep.equal({ host: 'h', port: 1, connectionName: 'me' })
    })

  it('Keys with dots are read in an object, too, and below redisson', () => {
    expect(options({ 'spring.redis.host': 'h' }).redis).to.deep.equal({ host: 'h', port: 6379 })
    expect(options(`spring.redis.redisson.config: '${REDISSON}'`)).to.deep.equal(options(REDISSON))
  })

  for (const [redis, key, expected] of [
    ['{ port: "hunter2" }', 'port', 'must be a whole number'],
    ['{ port: 70000 }', 'port', 'must be from 1 to 65535'],
    ['{ database: hunter2 }', 'database', 'must be a whole number'],
    ['{ host: [hunter2] }', 'host', 'must be text'],
    ['{ host: "redis://hunter2" }', 'host', 'must be the name or the IP of one host'],
    ['{ url: "http://hunter2" }', 'url', 'must have addresses such as redis://host:6379'],
    ['{ url: "redis://h/2", database: 1 }', 'url', 'names another database'],
    ['{ password: "{aes}hunter2" }', 'password', 'is encrypted'],
    ['{ ssl: hunter2 }', 'ssl', 'must be true or false'],
    ['{ ssl: { enabled: hunter2 } }', 'ssl.enabled', 'must be true or false'],
    ['{ cluster: "hunter2:1" }', 'cluster', 'must be a map'],
    [
      '{ cluster: { max-redirects: 3 } }',
      'cluster.nodes',
      'must have at least one address, each such as host:6379',
    ],
    ['{ cluster: { nodes: "a:1, hunter2" } }', 'cluster.nodes', 'must have at least one address'],
    ['{ sentinel: { nodes: "a:1" } }', 'sentinel.master', 'is missing'],
    ['{ sentinel: { master: m } }', 'sentinel.nodes', 'must have at least one address'],
    [`{ host: "\${HOST}" }`, 'host', 'uses the variable HOST, which is not set'],
    [`{ port: "\${PORT:hunter2}" }`, 'port', 'must be a whole number'],
  ] as const)
    for (const where of ['spring.data.redis', 'spring.redis'])
      it(`An error names the key of Spring and what is expected: ${where}: ${redis}`, () => {
        expect(() => options(below(where, redis)))
          .to.throw(TypeError, `${where}.${key} of the application.yml ${expected}`)
          .with.property('message')
          .not.match(/hunter2|Config\b/)
      })

  for (const [text, key] of [
    ['spring.data.redis: hunter2', 'spring.data.redis'],
    ['spring: { data: { redis: hunter2 } }', 'spring.data.redis'],
    ['spring: { data: hunter2 }', 'spring.data'],
    ['spring.redis: [hunter2]', 'spring.redis'],
    ['spring.data.redis: { port: 1, port.x: hunter2 }', 'spring.data.redis.port'],
  ] as const)
    it(`A value where a map is expected is named: ${text}`, () => {
      expect(() => options(text))
        .to.throw(TypeError, `${key} of the application.yml must be a map with keys below it`)
        .with.property('message')
        .not.contain('hunter2')
    })

  it('A map and an application.properties are told how to be given', () => {
    expect(() => options(`spring: { redis: { redisson: { config: { ${REDISSON} } } } }`)).to.throw(
      TypeError,
      'spring.redis.redisson.config of the application.yml must be the text of a redisson.yaml',
    )
    expect(() => options('spring.data.redis.host=h\nserver.port=80')).to.throw(
      TypeError,
      'application.properties',
    )
  })

  it('TLS that ssl.enabled asks for beside a url is not dropped', () => {
    const yml = below('spring.data.redis', '{ url: "redis://:x@h:1", ssl: { enabled: true } }')
    expect(options(yml).redis).to.deep.equal({ host: 'h', port: 1, password: 'x', tls: {} })
  })

  it('TLS that a bundle asks for is not dropped', () => {
    const yml = below('spring.data.redis', '{ host: h, ssl: { bundle: redis } }')
    expect(options(yml).redis).to.deep.equal({ host: 'h', port: 6379, tls: {} })
    expect(lost(yml).map(({ name, matters }) => [name, matters])).to.deep.equal([
      ['spring.data.redis.ssl.bundle', true],
    ])
    expect(
      options(below('spring.data.redis', '{ ssl: { enabled: false, bundle: b } }')).redis,
    ).to.not.have.key('tls')
  })

  it('A setting of Spring that is not known matters, and a key __proto__ does no harm', () => {
    expect(lost('spring.data.redis: { host: "::1", news: 1, __proto__: { x: 1 } }')).to.deep.include({
      name: 'spring.data.redis.news',
      why: 'rlock does not know this setting of Spring',
      matters: true,
    })
    expect(({} as { x?: number }).x).to.equal(undefined)
    expect(options('spring.data.redis.host: "::1"').redis).to.deep.equal({ host: '::1', port: 6379 })
  })

  it('fromRedissonConfig() finds the configuration of Redisson in an application.yml', () => {
    const yml = `server: { port: "\${PORT}" }\nspring:\n  redis:\n    redisson:\n      config: |\n`
    const indented = `        ${REDISSON}`
    expect(options(`${yml}${indented}`)).to.deep.equal(options(REDISSON))
    expect(() => options('spring: { redis: { redisson: { file: "classpath:redisson.yaml" } } }')).to.throw(
      TypeError,
      /text of that file/,
    )
    expect(() => options('spring: { datasource: {} }')).to.throw(TypeError, /spring\.data\.redis/)
  })

  for (const [where, wrap] of [
    ['spring.data.redis', (redis: string) => `spring:\n  data:\n    redis: ${redis}`],
    ['spring.redis', (redis: string) => `spring:\n  redis: ${redis}`],
  ] as const)
    it(`fromRedissonConfig() reads ${where} of an application.yml`, () => {
      const redis = (text: string) => options(wrap(text)).redis
      expect(
        redis(
          `{ host: "\${HOST:h}", port: 6380, database: 2, username: u, password: 0123, ssl: { enabled: true } }`,
        ),
      ).to.deep.equal({
        host: 'h',
        port: 6380,
        db: 2,
        username: 'u',
        password: '0123',
        tls: {},
      })
      expect(redis('{ url: "rediss://u:p@h:1" }')).to.include({
        host: 'h',
        port: 1,
        username: 'u',
        password: 'p',
      })
      expect(redis('{ database: 1 }')).to.deep.equal({ host: 'localhost', port: 6379, db: 1 })
      expect(redis('{ cluster: { nodes: "a:1, b:2" }, ssl: true }')).to.deep.equal({
        nodes: [
          { host: 'a', port: 1 },
          { host: 'b', port: 2 },
        ],
        options: { redisOptions: { tls: {} } },
      })
      expect(redis('{ sentinel: { master: m, nodes: [a:1], password: s }, password: p }')).to.deep.include({
        sentinels: [{ host: 'a', port: 1 }],
        name: 'm',
        sentinelPassword: 's',
        password: 'p',
      })
      const left = lost(wrap('{ timeout: 3s, cluster: { nodes: "h:1", max-redirects: 3 } }'))
      expect(left.map(({ name }) => name)).to.deep.equal([
        `${where}.timeout`,
        `${where}.cluster.max-redirects`,
      ])
    })
})
