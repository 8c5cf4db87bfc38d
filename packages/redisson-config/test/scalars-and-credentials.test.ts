import { expect } from 'chai'
import { fromRedissonConfig } from '../src/index'

const redisOf = (config: string | object, env: Record<string, string> = {}) =>
  fromRedissonConfig(config, { env }).options.redis as Record<string, unknown>
const refusal = (config: string | object, env: Record<string, string> = {}) => {
  try {
    fromRedissonConfig(config, { env })
  } catch (error) {
    return error as Error
  }
  throw new Error('it was accepted')
}
const sentinels = (settings: object) => ({
  sentinelServersConfig: { sentinelAddresses: ['redis://s:26379'], masterName: 'm', ...settings },
})

const TEXTS = ['0123456', '4815e162', '0x1F', '1.10', '12345678901234567890', 'true', 'False', '.5', '+1']

describe('fromRedissonConfig() and what YAML takes for a number or a flag (V20)', () => {
  for (const text of TEXTS)
    it(`fromRedissonConfig() keeps the text ${text} where Java keeps it (V20)`, () => {
      const single = `singleServerConfig: { address: "redis://h:1", password: ${text}, clientName: ${text} }`
      expect(redisOf(single)).to.include({ password: text, connectionName: text })
      const byVariable = single.replaceAll(` ${text}`, ' $' + '{SECRET}')
      expect(redisOf(byVariable, { SECRET: text })).to.include({ password: text, connectionName: text })
      const name = `sentinelServersConfig: { sentinelAddresses: ["redis://s:1"], masterName: ${text} }`
      expect(redisOf(name)).to.include({ name: text })
    })

  it('fromRedissonConfig() reads numbers, flags and null as before (V20)', () => {
    const yaml = `
singleServerConfig: { address: "redis://h:1", database: 3, password: null, username: ~, tcpNoDelay: True }
lockWatchdogTimeout: 5000
checkLockSyncedSlaves: false`
    const { options } = fromRedissonConfig(yaml, { env: {} })
    expect(options).to.include({ lockWatchdogTimeout: 5000, checkLockSyncedSlaves: false })
    expect(options.redis).to.deep.equal({ host: 'h', port: 1, db: 3, noDelay: true })
  })
})

describe('fromRedissonConfig() and credentials in addresses (V20)', () => {
  it('fromRedissonConfig() prefers the credentials of a URL, as Java does (V20)', () => {
    const address = 'redis://ada:p%40@h:1'
    expect(redisOf({ singleServerConfig: { address, username: 'bob', password: 'x' } })).to.include({
      username: 'ada',
      password: 'p@',
    })
    const onlyPassword = 'redis://:p@h:1'
    expect(
      redisOf({ singleServerConfig: { address: onlyPassword, username: 'bob', password: 'x' } }),
    ).to.include({ username: 'bob', password: 'p' })
  })

  it('fromRedissonConfig() gives the credentials in the URL of a sentinel to the sentinels (V20)', () => {
    const redis = redisOf(
      sentinels({
        sentinelAddresses: ['redis://ada:p@s:1', 'redis://t:2'],
        sentinelPassword: 'x',
        password: 'y',
      }),
    )
    expect(redis).to.include({ sentinelUsername: 'ada', sentinelPassword: 'p', password: 'y' })
    const differing = refusal(
      sentinels({ sentinelAddresses: ['redis://:s3cret@s:1', 'redis://:s3cret2@t:2'] }),
    )
    expect(differing).to.be.instanceOf(TypeError)
    expect(differing.message)
      .to.match(/sentinelAddresses/)
      .and.not.contain('s3cret')
  })
})

describe('fromRedissonConfig() refuses with the documented error (V20)', () => {
  const refused: [string, string | object, RegExp][] = [
    [
      'a variable that every object has',
      { singleServerConfig: { address: '$' + '{constructor}' } },
      /constructor/,
    ],
    [
      'a sentinel that is a socket',
      sentinels({ sentinelAddresses: ['redis+uds:///tmp/s'] }),
      /sentinelAddresses/,
    ],
    ['broken percent-encoding', { singleServerConfig: { address: 'redis://:s3cret%zz@h:1' } }, /address/],
    [
      'a password of Jasypt',
      { singleServerConfig: { address: 'redis://h:1', password: 'ENC(s3cret)' } },
      /decrypts/,
    ],
    ['a password of Spring Cloud', 'spring.data.redis.password: "{cipher}s3cret"', /decrypts/],
    ['port 0', { singleServerConfig: { address: 'redis://h:0' } }, /address/],
    [
      'a blank that is missing',
      'singleServerConfig: {address: "redis://h:1", password:s3cret}',
      /key without a value/,
    ],
    ['an alias to nothing', 'singleServerConfig: *s3cret', /not YAML/],
    [
      'aliases that grow',
      `a: &a [x,x,x,x,x,x,x,x,x,x]
b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]
c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]
d: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]`,
      /not YAML/,
    ],
    [
      'a number with a fraction',
      { singleServerConfig: { address: 'redis://h:1', database: 1.5 } },
      /database/,
    ],
  ]
  for (const [what, config, message] of refused)
    it(`fromRedissonConfig() refuses with a TypeError: ${what} (V20)`, () => {
      const error = refusal(config)
      expect(error).to.be.instanceOf(TypeError)
      expect(error.message).to.match(message).and.not.contain('s3cret')
    })
})
