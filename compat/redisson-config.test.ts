import { expect } from 'chai'
import { fromRedissonConfig } from '../packages/redisson-config/src/index'
import { describeWithJava, REDISSON_VERSIONS, startJavaPeer } from '../test/kit/java'
import { sharedStandalone } from '../test/kit/servers/index'

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
  it(`The settings of a Redisson configuration are all known to fromRedissonConfig(), of Redisson ${VERSION}`, async () => {
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
}, [VERSION])
