import { expect } from 'chai'
import { fromRedissonConfig } from '../packages/redisson-config/src/index'
import { createRedisson, uniqueName } from '../test/kit/clients'
import { describeWithJava, REDISSON_VERSIONS, startJavaPeer } from '../test/kit/java'
import { freshCluster, hasClusterDatabases, sharedStandalone } from '../test/kit/servers/index'

const MODES = {
  singleServerConfig: ['SingleServerConfig', { address: 'redis://h:6379' }],
  sentinelServersConfig: ['SentinelServersConfig', { sentinelAddresses: ['redis://h:1'], masterName: 'm' }],
  clusterServersConfig: ['ClusterServersConfig', { nodeAddresses: ['redis://h:1'] }],
} as const

/** Whether the setting is carried over, refused for its value, or explained: everything but "not known". */
function isKnown(mode: keyof typeof MODES, inMode: object, atTop: object): boolean {
  try {
    const section = { ...MODES[mode][1], ...inMode }
    const { notCarriedOver } = fromRedissonConfig({ ...atTop, [mode]: section }, { env: {} })
    return notCarriedOver.every(({ why }) => !why.includes('does not know'))
  } catch {
    return true
  }
}

const VERSION = REDISSON_VERSIONS.newest

describeWithJava('The settings of a Redisson configuration', () => {
  it(`fromRedissonConfig() knows all settings of a configuration of Redisson ${VERSION}`, async () => {
    await using peer = await startJavaPeer({ version: VERSION, redis: (await sharedStandalone()).url })
    const settingsOf = async (name: string) => {
      const methods = await peer.describe(`org.redisson.config.${name}`)
      const setters = methods.flatMap(
        (method) => /^set([A-Z])(\w*)$/.exec(method.name)?.slice(1).join('') ?? [],
      )
      return [...new Set(setters)].map((each) => each[0]!.toLowerCase() + each.slice(1))
    }
    const unknown: string[] = []
    const top = await settingsOf('Config')
    expect(top).to.include.members(['lockWatchdogTimeout', 'codec', 'nameMapper'])
    for (const name of top) if (!isKnown('singleServerConfig', {}, { [name]: 1 })) unknown.push(name)
    for (const [mode, [type]] of Object.entries(MODES))
      for (const name of await settingsOf(type))
        if (!isKnown(mode as keyof typeof MODES, { [name]: 1 }, {})) unknown.push(`${mode}.${name}`)
    expect(unknown).to.deep.equal([])
  })

  it(`What Redisson ${VERSION} writes by toYAML raises no alarm, and gives its options`, async () => {
    const { url } = await sharedStandalone()
    await using peer = await startJavaPeer({ version: VERSION, redis: url })
    const { options, notCarriedOver } = fromRedissonConfig(await peer.configuration(), { env: {} })
    expect(notCarriedOver.filter(({ matters }) => matters)).to.deep.equal([])
    expect(options).to.include({ lockWatchdogTimeout: 30_000, slavesSyncTimeout: 1_000 })
    const redisson = await createRedisson(options)
    const name = uniqueName('order')
    await peer.thread('one').lock(name)
    expect(await redisson.getLock(name).tryLock()).to.equal(false)
  })

  it('The keyPrefix of a section of the Java service is named, and as nameMapper excludes Java', async () => {
    const { url } = await sharedStandalone()
    const { hostname, port } = new URL(url)
    const yml = `spring.data.redis: { host: ${hostname}, port: ${port} }\nredisson: { keyPrefix: shop }`
    const { options, notCarriedOver } = fromRedissonConfig(yml, { env: {} })
    const [section] = notCarriedOver
    expect(section).to.include({ name: 'redisson', matters: true })
    expect(section!.why).to.include('nameMapper')
    // What the Java code of a popular template makes of its keyPrefix.
    await using peer = await startJavaPeer({
      version: VERSION,
      redis: url,
      settings: { namePrefix: 'shop:' },
    })
    const name = uniqueName('order')
    await peer.thread('one').lock(name)
    const without = await createRedisson(options)
    expect(await without.getLock(name).isLocked()).to.equal(false)
    const redisson = await createRedisson({ ...options, nameMapper: { map: (given) => `shop:${given}` } })
    expect(await redisson.getLock(name).tryLock()).to.equal(false)
    await peer.thread('one').unlock(name)
    await redisson.getLock(name).withLock(async () => {
      expect(await peer.thread('two').tryLock(name)).to.equal(false)
    })
  })

  it('The database of a cluster of Valkey 9 is the one of Java', async function () {
    if (!(await hasClusterDatabases())) return this.skip()
    const setup = await freshCluster({ config: ['cluster-databases 4'] })
    const addresses = setup.nodes.map(({ host, port }) => `redis://${host}:${port}`)
    const redis = { mode: 'cluster', addresses, database: 3 } as const
    await using peer = await startJavaPeer({ version: VERSION, redis })
    const config = { clusterServersConfig: { nodeAddresses: addresses, database: 3 } }
    const redisson = await createRedisson(fromRedissonConfig(config, { env: {} }).options)
    for (let at = 0; at < 6; at++) {
      const name = uniqueName('order')
      await peer.thread('one').lock(name)
      expect(await redisson.getLock(name).tryLock()).to.equal(false)
      await peer.thread('one').unlock(name)
      await redisson.getLock(name).withLock(async () => {
        expect(await peer.thread('two').tryLock(name)).to.equal(false)
      })
    }
  })
}, [VERSION])
