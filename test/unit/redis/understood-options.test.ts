import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { Cluster, Redis } from 'ioredis'
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5'
import { CLUSTER, SERVER } from '../../../src/redis/target/allowed-options'
import { resolveTarget } from '../../../src/redis/target/target'

const BUILT = dirname(require.resolve('ioredis'))
const host = 'nowhere.invalid'
const nodes = [{ host, port: 7000 }]

describe('A redis option that is understood', () => {
  const resolved = (source: unknown) => {
    const target = resolveTarget(source as string)
    return { ...target.options } as Record<string, unknown>
  }

  const urls: [string | URL, object][] = [
    ['redis://h', { host: 'h' }],
    ['redis://h/', { host: 'h' }],
    ['redis://h/0', { host: 'h', db: 0 }],
    ['redis://h:6380/15', { host: 'h', port: 6380, db: 15 }],
    ['redis://[::1]:6380', { host: '::1', port: 6380 }],
    ['redis://:p%40ss@h', { host: 'h', username: '', password: 'p@ss' }],
    ['redis://ada@h', { host: 'h', username: 'ada', password: '' }],
    [
      'rediss://ada:p%2Fss@h:6380/1',
      { host: 'h', port: 6380, db: 1, username: 'ada', password: 'p/ss', tls: {} },
    ],
    ['REDISS://h', { host: 'h', tls: {} }],
    ['valkey://h:6380/2', { host: 'h', port: 6380, db: 2 }],
    ['valkeys://h', { host: 'h', tls: {} }],
    [new URL('valkeys://:x@h/3'), { host: 'h', username: '', password: 'x', db: 3, tls: {} }],
    ['redis+unix:///tmp/a%20b.sock', { path: '/tmp/a b.sock' }],
    ['redis+uds:///tmp/s', { path: '/tmp/s' }],
    ['redis+unix:///tmp/s?db=3&password=p%40', { path: '/tmp/s', db: 3, password: 'p@' }],
    ['redis+unix://ada:p%40@/tmp/s', { path: '/tmp/s', username: 'ada', password: 'p@' }],
    [new URL('redis+unix:///tmp/s?db=3'), { path: '/tmp/s', db: 3 }],
    [
      'redis://h?db=4&family=6&connectTimeout=500&connectionName=n',
      { host: 'h', db: 4, family: 6, connectTimeout: 500, connectionName: 'n' },
    ],
    // Known, and not taken.
    ['redis://h?commandTimeout=50&enableReadyCheck=false', { host: 'h' }],
  ]
  for (const [url, options] of urls)
    it(`The redis option is understood: the URL ${url}`, () => {
      expect(resolved(url)).to.deep.equal(options)
    })

  const objects: [string, object, object][] = [
    [
      'a URL with TLS options beside',
      { url: 'redis://:x@h:6380/1', tls: { ca: 'C' }, connectTimeout: 5 },
      { host: 'h', port: 6380, db: 1, username: '', password: 'x', tls: { ca: 'C' }, connectTimeout: 5 },
    ],
    [
      'a URL of TLS with options that are undefined',
      { url: new URL('rediss://h'), tls: undefined, port: 7, password: undefined },
      { host: 'h', port: 7, tls: {} },
    ],
    ['a host', { host }, { host }],
    ['a port alone, as with ioredis', { port: 6380 }, { port: 6380 }],
    ['a path', { path: '/tmp/s', host: undefined }, { path: '/tmp/s' }],
    [
      'numbers as text, as from the environment',
      { host, port: '6380', db: '5' },
      { host, port: 6380, db: 5 },
    ],
    [
      'what is undefined or null beside a host: not there',
      {
        host,
        port: undefined,
        db: undefined,
        username: null,
        password: null,
        tls: undefined,
        sentinels: null,
      },
      { host },
    ],
    ['an empty password: none', { host, password: '' }, { host, password: '' }],
    ['tls', { host, tls: { rejectUnauthorized: false } }, { host, tls: { rejectUnauthorized: false } }],
    [
      'sentinels',
      { sentinels: [{ host, port: '26379' }, { host: 'b' }], name: 'm', host: undefined },
      { sentinels: [{ host, port: 26379 }, { host: 'b' }], name: 'm' },
    ],
    [
      'options of ioredis that are not taken: nothing',
      {
        host,
        commandTimeout: 1,
        retryStrategy: null,
        lazyConnect: true,
        maxRetriesPerRequest: null,
        keyPrefix: '',
        monitor: true,
        replyMapping: 'legacy',
        showFriendlyErrorStack: true,
      },
      { host },
    ],
    ['an object without a prototype', Object.assign(Object.create(null), { host }), { host }],
  ]
  for (const [what, given, options] of objects)
    it(`The redis option is understood: ${what}`, () => {
      expect(resolved(given)).to.deep.equal(options)
    })

  it('The redis option is understood: every option that ioredis has a default for', () => {
    for (const Kind of [Redis, Redis5] as (typeof Redis)[]) {
      const instance = new Kind({ host, lazyConnect: true })
      expect(resolved({ ...instance.options })).to.include({ host, port: 6379, db: 0 })
      instance.disconnect()
    }
    for (const Kind of [Cluster, Cluster5]) {
      const instance = new Kind([], { lazyConnect: true })
      resolved({ nodes, options: { ...instance.options } })
      instance.disconnect()
    }
  })

  it('The redis option is understood: every option that the types of ioredis have', () => {
    const declared = (...files: string[]) =>
      files.flatMap((file) => {
        const types = readFileSync(join(BUILT, file), 'utf8')
        return [...types.matchAll(/^ {4}(\w+)\??: /gm)].map(([, name]) => name!)
      })
    const servers = declared(
      'redis/RedisOptions.d.ts',
      'connectors/StandaloneConnector.d.ts',
      'connectors/SentinelConnector/index.d.ts',
    )
    expect(servers).to.include.members(['sentinels', 'name', 'commandTimeout', 'retryStrategy'])
    // Fields of the connectors themselves, of an answer of a sentinel, and of a mapped address.
    const others = [
      'emitter',
      'options',
      'path',
      'flags',
      'ip',
      'port',
      'host',
      'connecting',
      'stream',
      'prio',
    ]
    for (const [names, { taken, ignored }] of [
      [servers, SERVER],
      [declared('cluster/ClusterOptions.d.ts'), CLUSTER],
    ] as const) {
      const known = [...taken, ...ignored, ...others]
      expect(names.filter((name) => !known.includes(name))).to.deep.equal([])
    }
  })

  it('The redis option is understood: ioredis of either version, and a derived class', () => {
    class Ours extends Redis {}
    for (const Kind of [Redis, Redis5, Ours] as (typeof Redis)[]) {
      const instance = new Kind({ host, port: 6380, lazyConnect: true })
      // What somebody else has put there is no concern of ours.
      Object.assign(instance.options, { traced: true })
      expect(resolved(instance)).to.include({ host, port: 6380, db: 0 })
      instance.disconnect()
    }
    for (const Kind of [Cluster, Cluster5]) {
      const instance = new Kind([{ host, port: 7000 }, 'redis://other:7001'], { lazyConnect: true })
      const target = resolveTarget(instance)
      expect(target).to.include({ kind: 'cluster', description: `${host}:7000, other:7001` })
      instance.disconnect()
    }
  })

  it('The redis option is understood: nodes of a cluster as numbers, text, URLs and objects', () => {
    const given = [
      7000,
      '7001',
      'h:7002',
      '[::1]:7003',
      'h',
      'redis://h:7004/0',
      'valkey://h:7005',
      new URL('valkeys://ada:p%40@h:7006'),
      'redis+unix:///tmp/s',
      { host, port: '7007', commandTimeout: 1 },
      { port: 7008 },
    ]
    const target = resolveTarget({ nodes: given } as never)
    expect(target.kind === 'cluster' && target.nodes).to.deep.equal([
      { port: 7000 },
      { port: 7001 },
      { host: 'h', port: 7002 },
      { host: '::1', port: 7003 },
      { host: 'h' },
      { host: 'h', port: 7004 },
      { host: 'h', port: 7005 },
      { host: 'h', port: 7006, username: 'ada', password: 'p@', tls: {} },
      { path: '/tmp/s' },
      { host, port: 7007 },
      { port: 7008 },
    ])
    // For the nodes that are found by these.
    expect(resolved({ nodes: given })).to.deep.equal({ username: 'ada', password: 'p@', tls: {} })
    expect(resolved({ nodes: ['rediss://h'] })).to.deep.equal({ tls: {} })
  })

  it('The redis option is understood: the CA of all nodes is that of a node by rediss://, too', () => {
    const tls = { ca: 'of all' }
    const source = {
      nodes: ['rediss://a:1', { host: 'b', port: 2, tls: { ca: 'own' } }],
      options: { redisOptions: { tls } },
    }
    const target = resolveTarget(source)
    expect(target.kind === 'cluster' && target.nodes.map((node) => node.tls)).to.deep.equal([
      tls,
      { ca: 'own' },
    ])
  })

  it('The redis option is understood: an address in cluster options means nothing', () => {
    const redisOptions = { host: 'other', port: 1, path: '/tmp/s', password: 'x' }
    expect(resolved({ nodes, options: { redisOptions } })).to.deep.equal({ password: 'x' })
  })
})
