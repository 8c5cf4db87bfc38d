import { expect } from 'chai'
import { fromRedissonConfig } from '../src/index'

const read = (config: string, env = {}) => fromRedissonConfig(config, { env })
const matters = (config: string, env = {}) =>
  read(config, env)
    .notCarriedOver.filter((each) => each.matters)
    .map(({ name }) => name)
const redisOf = (config: string, env = {}) => read(config, env).options.redis

const ADDRESS = 'spring: { data: { redis: { host: h, port: 1 } } }'

describe('fromRedissonConfig() and what else stands in an application.yml', () => {
  for (const [section, names] of [
    ['redisson: { keyPrefix: shop, threads: 4 }', ['redisson']],
    ['redisson.keyPrefix: shop', ['redisson.keyPrefix']],
    ['redisson:\n  config: \'singleServerConfig: { address: "redis://other:1" }\'', ['redisson']],
    ['acme: { lock: { redisson-address: "redis://other:1" } }', ['acme.lock.redisson-address']],
    ['spring.redis.redisson.keyPrefix: shop', ['spring.redis.redisson.keyPrefix']],
    ["spring.data.redis.redisson.config: 'singleServerConfig: {}'", ['spring.data.redis.redisson.config']],
    ['spring.redis.host: other', ['spring.redis']],
    ['spring.redis: { host: h, port: 1 }', []],
    ['spring.profiles.active: dev', ['spring.profiles.active']],
    ['spring: { config: { import: "optional:configserver:" } }', ['spring.config.import']],
    ['logging.level: { org.redisson: WARN }', []],
    ['management: { health: { redisson: { enabled: false } } }', []],
  ] as const)
    it(`A section that may change Java's locks is in notCarriedOver: ${section.slice(0, 45)}`, () => {
      const one = `spring.data.redis: { host: h, port: 1 }\n${section}`
      expect(matters(one)).to.deep.equal(names)
      expect(matters(`${ADDRESS}\n---\n${section}`)).to.deep.equal(names)
      expect(redisOf(one)).to.deep.equal({ host: 'h', port: 1 })
    })

  it('A section of the service beside spring.redis.redisson.config is in notCarriedOver', () => {
    const config = `spring.redis.redisson.config: 'singleServerConfig: { address: "redis://h:1" }'`
    expect(matters(config)).to.deep.equal([])
    expect(matters(`${config}\nredisson: { keyPrefix: shop }`)).to.deep.equal(['redisson'])
  })

  it('A variable that Spring takes before the file is in notCarriedOver', () => {
    const names = [
      'SPRING_DATA_REDIS_HOST',
      'SPRING_PROFILES_ACTIVE',
      'SPRING_APPLICATION_JSON',
      'spring.redis.host',
    ]
    const env = Object.fromEntries(
      [...names, 'SPRING_MAIN_BANNER', 'spring.datasource.url'].map((name) => [name, 'x']),
    )
    expect(matters(ADDRESS, env)).to.deep.equal(names)
  })
})

describe('fromRedissonConfig() and an application.yml as JSON', () => {
  it('A configuration of Spring is found as JSON, too', () => {
    expect(redisOf('{ "spring": { "data": { "redis": { "host": "h", "port": 1 } } } }')).to.deep.equal(
      redisOf(ADDRESS),
    )
  })
})

describe('fromRedissonConfig() and several documents of an application.yml', () => {
  it('Later documents are laid over the first, as Spring does', () => {
    const text = `${ADDRESS}\n---\nspring.data.redis: { host: two, clientName: me }\n---\nserver.port: 80`
    expect(redisOf(text)).to.deep.equal({ host: 'two', port: 1, connectionName: 'me' })
    expect(matters(text)).to.deep.equal([])
    expect(redisOf(`server.port: 80\n---\n${ADDRESS}`)).to.deep.equal({ host: 'h', port: 1 })
    expect(
      redisOf('spring.data.redis: { host: h, password: x }\n---\nspring.data.redis: { password: ~ }'),
    ).to.deep.equal({ host: 'h', port: 6379 })
  })

  for (const profile of [
    'spring.config.activate.on-profile: prod',
    'spring: { config: { activate: { onProfile: prod } } }',
    'spring.profiles: prod',
    'spring.config.activate.on-cloud-platform: kubernetes',
  ])
    it(`A document for a profile is not read, and is named: ${profile.slice(0, 50)}`, () => {
      const text = `${ADDRESS}\n---\n${profile}\n`
      expect(redisOf(`${text}spring.data.redis.host: three`)).to.deep.equal({ host: 'h', port: 1 })
      expect(matters(`${text}spring.data.redis.host: three`)).to.deep.equal(['the documents for a profile'])
      expect(matters(`${text}server.port: 80`)).to.deep.equal([])
    })

  it('An application.yml that has Redis in documents for a profile only says so', () => {
    const given = 'server.port: 80\n---\nspring.config.activate.on-profile: prod\nspring.data.redis.host: h'
    expect(() => read(given)).to.throw(TypeError, 'in documents for a profile only')
  })

  it('A redisson.yaml of several documents is refused, as Redisson refuses it', () => {
    const one = 'singleServerConfig: { address: "redis://h:1" }'
    expect(() => read(`${one}\n---\n${one}`)).to.throw(TypeError, 'several documents')
  })

  it('Merge keys and a byte order mark are read as Java reads them', () => {
    const text = '\uFEFFspring.data.redis: { <<: &x { host: h, port: 5 }, port: 6 }'
    expect(redisOf(text)).to.deep.equal({ host: 'h', port: 6 })
  })

  for (const config of [
    'classpath:redisson.yaml',
    'file:/etc/redisson.yaml',
    'config/redisson.yml',
    'spring.redis.redisson.config: "classpath:redisson.yaml"',
  ])
    it(`The name of a file where its text belongs is told: ${config}`, () => {
      expect(() => read(config)).to.throw(TypeError, 'give the text of that file')
    })
})
