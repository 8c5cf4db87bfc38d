import { expect } from 'chai'
import { fromRedissonConfig } from '../src/index'

const redisOf = (config: string | object, env = {}) =>
  fromRedissonConfig(config, { env }).options.redis as Record<string, unknown>
const yml = (password: string) =>
  `spring.data.redis: { host: h, password: '${password}' }\napp.redis-password: of the file`
const yaml = (password: string) => `singleServerConfig: { address: "redis://h:1", password: '${password}' }`

describe('fromRedissonConfig() and variables', () => {
  // What Redisson 4.7 with Spring Boot 4.1 made of the same files.
  const ofSpring: [string, Record<string, string>, string][] = [
    [`\${A:\${B:zz}}`, {}, 'zz'],
    [`\${A:\${B:zz}}`, { B: 'b' }, 'b'],
    [`\${\${A}}`, { A: 'B', B: 'b' }, 'b'],
    [`\${app.redis-password}`, {}, 'of the file'],
    [`\${app.redisPassword}`, {}, 'of the file'],
    [`\${app.redis-password}`, { APP_REDIS_PASSWORD: 'of env' }, 'of env'],
    [`\${app.redis-password}`, { APP_REDISPASSWORD: 'of env' }, 'of env'],
    [`\${PW}`, { PW: `pa\${XX}ss\${YY}`, XX: '-' }, `pa-ss\${YY}`],
    [`\${UNSET:-def}`, {}, '-def'],
    [`a\${b`, {}, `a\${b`],
  ]
  for (const [given, env, password] of ofSpring)
    it(`Variables of application.yml resolve as in Spring: ${given} of ${Object.keys(env)}`, () => {
      expect(redisOf(yml(given), env)).to.include({ password })
      const config = yaml(given).replaceAll("'", '"')
      const wrapped = `spring.redis.redisson.config: '${config}'\napp.redis-password: of the file`
      expect(redisOf(wrapped, env)).to.include({ password })
    })

  const ofRedisson: [string, Record<string, string>, string][] = [
    [`\${A:-\${B:-zz}}`, {}, 'zz'],
    [`\${PW}`, { PW: `pa\${XX}s`, XX: 'x' }, `pa\${XX}s`],
    [`\${A:-x}\${B:y}`, {}, 'xy'],
  ]
  for (const [given, env, password] of ofRedisson)
    it(`Variables of redisson.yaml resolve as in Redisson: ${given} of ${Object.keys(env)}`, () => {
      expect(redisOf(yaml(given), env)).to.include({ password })
      const object = { singleServerConfig: { address: 'redis://h:1', password: given } }
      expect(redisOf(object, env)).to.include({ password })
    })

  it('A variable that is not set may stand in a comment, and nowhere else', () => {
    expect(redisOf(`# \${NOT.SET}\n${yaml('x')} # \${ALSO_NOT}`)).to.include({ password: 'x' })
    const spring = `spring.redis.redisson.config: |\n  # \${NOT.SET}\n  ${yaml('x')}`
    expect(redisOf(spring)).to.include({ password: 'x' })
    for (const given of [yaml(`\${NOT_SET}`), yml(`\${NOT_SET}`), `\${NOT_SET}: 1\n${yaml('x')}`])
      expect(() => redisOf(given)).to.throw(TypeError, 'the variable NOT_SET, which is not set')
    expect(() => redisOf(yaml(`\${app.redis-password}`))).to.throw(TypeError, 'app.redis-password')
  })

  it('A variable may be a list of addresses, as in Java', () => {
    const config = `clusterServersConfig: { nodeAddresses: \${NODES} }`
    const { nodes } = redisOf(config, { NODES: '["redis://a:1", "redis://b:2"]' })
    expect(nodes).to.deep.equal([
      { host: 'a', port: 1 },
      { host: 'b', port: 2 },
    ])
  })

  it('The name of a variable that may be a part of a password is in no error', () => {
    for (const given of [yaml(`pa\${hunter2!}`), yml(`pa\${hunter2!}`), yaml(`\${2hunter}`)])
      expect(() => redisOf(given))
        .to.throw(TypeError, 'uses a variable, which is not set')
        .with.property('message')
        .not.contain('hunter')
  })

  it('Variables that contain each other are refused', () => {
    const text = `spring.data.redis.password: \${a.b}\na: { b: "\${a.c}", c: "\${a.b}" }`
    expect(() => redisOf(text)).to.throw(TypeError, 'contains itself')
  })
})

describe('fromRedissonConfig() and the addresses of Redisson', () => {
  const single = (address: string) => redisOf({ singleServerConfig: { address } })

  it('One word before the host is a password, as in Java', () => {
    expect(single('redis://secret@h:1')).to.deep.equal({ host: 'h', port: 1, password: 'secret' })
    expect(single('redis://ada:@h:1')).to.deep.equal({ host: 'h', port: 1, username: 'ada' })
    expect(redisOf('spring.data.redis.url: "redis://secret@h:1"')).to.include({ password: 'secret' })
  })

  it('A plus in a password is a blank in an address of Redisson, and a plus in a URL of Spring', () => {
    expect(single('redis://:a+b%2Bc@h:1')).to.include({ password: 'a b+c' })
    expect(redisOf('spring.data.redis.url: "redis://u:a+b%2Bc@h:1"')).to.include({ password: 'a+b+c' })
  })

  it('A number that Java reads as octal is refused', () => {
    const config = 'singleServerConfig: { address: "redis://h:1", database: 010 }'
    expect(() => redisOf(config)).to.throw(TypeError, 'singleServerConfig.database')
  })
})
