import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { RedissonOptions } from '../../../src/index'
import { createRedisson, openRedis, uniqueName } from '../../../test/kit/clients'
import {
  type Standalone,
  sharedCluster,
  sharedSentinel,
  skipInContainers,
  startStandalone,
} from '../../../test/kit/servers/index'
import { removeWithThisProcess } from '../../../test/kit/servers/left-behind'
import { TlsProxy } from '../../../test/kit/tls-proxy'
import { Connection } from '../src/connection'
import { UsageError } from '../src/exit'
import { redissonOptions } from '../src/target'
import { rlock, startWatching } from './cli'

const PASSWORD = 'hush/hush:1'

describe('The command rlock and ways to connect', function () {
  this.timeout(60_000)
  let server: Standalone
  let folder: string
  let socket: string

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rlock-connect-'))
    removeWithThisProcess(folder)
    socket = join(folder, 'redis.sock')
    server = await startStandalone({ requirepass: PASSWORD, config: [`unixsocket ${socket}`] })
  })
  after(() => server.stop())

  const configured = (yaml: string) => {
    const file = join(folder, `${uniqueName().replaceAll(/\W/g, '-')}.yaml`)
    writeFileSync(file, yaml)
    return ['--config', file]
  }

  /** Each command that reads, writes or holds, on a lock that is there. */
  async function everyCommand(to: string[], options: RedissonOptions, env: Record<string, string> = {}) {
    const client = await createRedisson(options)
    const hold = await client.getLock(uniqueName()).acquire()
    const name = hold.lockName
    const run = (...args: string[]) => rlock([...args, ...to, '--json'], env)
    const [listed] = (await run('ls', name)).json
    expect(listed, 'ls').to.include({ name, kind: 'lock' })

    const [shown] = (await run('show', name)).json
    expect(shown.object.holders[0].owner, 'show').to.equal(hold.owner)
    const doctor = await run('doctor')
    expect([0, 1], doctor.err).to.include(doctor.code)
    const watching = await startWatching([name, ...to], env)
    expect((await watching.interrupt()).code, 'watch').to.equal(0)
    const freed = await run('unlock', name, '--yes')
    expect(freed.json[0]?.result, freed.err).to.equal('freed')
    const ran = await rlock(['exec', name, ...to, '--wait', '30s', '--', 'echo', 'ran'], env)
    expect([ran.code, ran.out], ran.err).to.deep.equal([0, 'ran\n'])
    for (const { out, err } of [doctor, freed, ran]) expect(out + err).to.not.contain(PASSWORD)
  }

  it('The command rlock connects by a redisson.yaml with variables, as the Java service does', async () => {
    const to = configured(`
singleServerConfig:
  address: "redis://\${HOST}:${server.port}"
  password: "\${SECRET}"
  database: 2
`)
    const env = { HOST: server.host, SECRET: PASSWORD }
    await everyCommand(to, { redis: `${server.url}/2` }, env)
    const unset = await rlock(['ls', ...to], { HOST: server.host })
    expect(unset.code).to.equal(2)
    expect(unset.err).to.contain('SECRET')
  })

  it('The command rlock says which settings of a redisson.yaml it does not use, if they matter', async () => {
    const to = configured(`
singleServerConfig:
  address: "redis://${server.host}:${server.port}"
  password: "${PASSWORD}"
  nameMapper: !<org.example.Mapper> {}
threads: 16
`)
    const { code, err } = await rlock(['ls', ...to])
    expect(code, err).to.equal(0)
    expect(err).to.contain('nameMapper').and.to.not.contain('threads').and.to.not.contain(PASSWORD)
  })

  it('The command rlock refuses a redisson.yaml that it cannot use with 2, without a value of it', async () => {
    for (const yaml of [`singleServerConfig: [${PASSWORD}`, `password: ${PASSWORD}`, '']) {
      const { code, err } = await rlock(['ls', ...configured(yaml)])
      expect(code, err).to.equal(2)
      expect(err).to.not.contain(PASSWORD)
    }
    expect((await rlock(['ls', '--config', join(folder, 'none.yaml')])).code).to.equal(2)
    expect((await rlock(['ls', ...configured(''), '--redis', server.url])).code).to.equal(2)
  })

  it('The command rlock works through Sentinel, also by a redisson.yaml', async () => {
    const { sentinels, name } = await sharedSentinel()
    const options = { redis: { sentinels: sentinels.map(({ host, port }) => ({ host, port })), name } }
    const urls = sentinels.flatMap(({ host, port }) => ['--redis', `${host}:${port}`])
    await everyCommand([...urls, '--sentinel', name], options)
    const addresses = sentinels.map(({ host, port }) => `"redis://${host}:${port}"`).join(', ')
    await everyCommand(
      configured(`sentinelServersConfig: { masterName: ${name}, sentinelAddresses: [${addresses}] }`),
      options,
    )
  })

  it('rlock takes TLS, logins and the database of a URL for sentinels and primary alike', () => {
    const options = (env: Record<string, string>, ...redis: string[]) =>
      redissonOptions({ redis, sentinel: 'main', user: env.user }, env).redis
    expect(options({ REDISCLI_AUTH: 'p' }, 'rediss://:s@one:1/3,rediss://:s@two/3')).to.deep.equal({
      sentinels: [
        { host: 'one', port: 1 },
        { host: 'two', port: 26_379 },
      ],
      name: 'main',
      ...{ tls: {}, sentinelTLS: {}, db: 3, username: '', password: 'p', sentinelPassword: 's' },
    })
    expect(options({}, 'redis://a:x,y@one')).to.include({
      username: 'a',
      password: 'x,y',
      sentinelPassword: 'x,y',
    })
    for (const urls of [
      ['rediss://one', 'redis://two'],
      ['redis+unix:///tmp/socket'],
      ['redis://one/1,redis://two/2'],
    ])
      expect(() => options({}, ...urls), urls.join()).to.throw(UsageError)
  })

  it('The user and the TLS of the options go before those of a URL, also of a node of a cluster', () => {
    const given = {
      cluster: true,
      redis: ['rediss://svc:secret@a:1,rediss://b:2'],
      user: 'oper',
      cacert: __filename,
    }
    const { redis } = redissonOptions(given, { REDISCLI_AUTH: 'operpw' })
    const { nodes } = redis as unknown as { nodes: { tls: { ca: Buffer } }[] }
    expect(nodes).to.have.length(2)
    for (const node of nodes) {
      expect(node).to.include({ username: 'oper', password: 'operpw' })
      expect(node.tls.ca).to.be.instanceOf(Buffer)
    }
    for (const other of [{ user: 'oper' }, { cacert: __filename }])
      expect(() => redissonOptions({ config: 'redisson.yaml', ...other })).to.throw(
        '--config has the user and TLS',
      )
  })

  it('The command rlock with --sentinel and rediss:// sends no password that is not encrypted', async () => {
    const { sentinels, name } = await sharedSentinel()
    const proxy = await TlsProxy.open(sentinels[0]!)
    const to = [
      '--redis',
      `rediss://localhost:${proxy.port}`,
      '--sentinel',
      name,
      '--cacert',
      proxy.certificate,
    ]
    const { code, err } = await rlock(['ls', ...to], { REDISCLI_AUTH: PASSWORD })
    // The sentinel answered by TLS. Its primary speaks no TLS, and is asked for nothing else.
    expect([code, /names the server/.test(err)], err).to.deep.equal([69, true])
    expect(err).to.not.contain(PASSWORD)
  })

  it('The command rlock shows no password of a URL in a wrong place, and takes no URL for a name', async () => {
    const url = `redis://ada:${PASSWORD}@127.0.0.1:1`
    for (const args of [
      [url],
      ...['ls', 'watch', 'show', 'page'].map((command) => [command, url]),
      ['unlock', url, '--yes'],
      ['exec', url, '--', 'true'],
      ['exec', 'name', '--wait', url, '--', 'true'],
      ['ls', '--sentinel', url],
      ['ls', '--kind', url],
      ['ls', '--longer-than', url],
    ]) {
      const { code, out, err } = await rlock(args)
      expect([code, out], args.join(' ')).to.deep.equal([2, ''])
      expect(err, args.join(' ')).to.not.contain(PASSWORD)
    }
  })

  it('The command rlock works with a cluster, also by a redisson.yaml', async () => {
    const { nodes } = await sharedCluster()
    const urls = nodes.map(({ host, port }) => `redis://${host}:${port}`)
    await everyCommand(['--cluster', '--redis', urls.join(',')], { redis: { nodes: urls } })
    const addresses = urls.map((url) => `"${url}"`).join(', ')
    await everyCommand(configured(`clusterServersConfig: { nodeAddresses: [${addresses}] }`), {
      redis: { nodes: urls },
    })
  })

  it('The command rlock connects by TLS, and refuses a certificate that it does not know', async () => {
    const proxy = await TlsProxy.open(server)
    const url = `rediss://localhost:${proxy.port}`
    const env = { REDISCLI_AUTH: PASSWORD }
    await everyCommand(
      ['--redis', url, '--user', 'default', '--cacert', proxy.certificate],
      { redis: server.url },
      env,
    )
    const refused = await rlock(['ls', '--redis', url], env)
    expect(refused.code).to.equal(69)
    expect(refused.err).to.not.contain(PASSWORD)
    expect((await rlock(['ls', '--redis', url, '--cacert', join(folder, 'none.pem')], env)).code).to.equal(2)
  })

  it('The command rlock connects by a unix socket', async function () {
    skipInContainers(this, 'its sockets are files of its own')
    const env = { REDISCLI_AUTH: PASSWORD }
    await everyCommand(['--redis', `redis+unix://${socket}`], { redis: server.url }, env)
  })

  it('The command rlock connects as a user of the ACL, with a password of a variable or of a URL', async () => {
    const redis = await openRedis(server.url)
    await redis.call('ACL', 'SETUSER', 'ada', 'on', `>${PASSWORD}`, '~*', '&*', '+@all')
    const { host, port } = server
    const { out } = await rlock(['ls', '--redis', `${host}:${port}`, '--user', 'ada', '--json', '--held'], {
      REDISCLI_AUTH: PASSWORD,
    })
    expect(out).to.equal('')
    const url = `redis://ada:${encodeURIComponent(PASSWORD)}@${host}:${port}`
    expect((await rlock(['ls'], { REDIS_URL: url })).code).to.equal(0)
    const wrong = await rlock(['ls'], { REDIS_URL: url.replace('hush', 'wrong-secret') })
    expect([wrong.code, wrong.err.includes('wrong-secret')]).to.deep.equal([69, false])
  })

  it('The connection of an inspector asks for credentials that change', async () => {
    const { host, port } = server
    let asked = 0
    const connection = await Connection.open({
      redis: { host, port },
      credentials: () => {
        asked++
        return { username: 'default', password: PASSWORD }
      },
    })
    try {
      const [node] = connection.primaries()
      expect(await node!.ping()).to.equal('PONG')
      expect(asked).to.be.at.least(1)
    } finally {
      connection.close()
    }
  })
})
