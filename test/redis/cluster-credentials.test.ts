import { Cluster } from 'ioredis'
import { createRedisson } from '../kit/clients'
import { countedByAuto, type Look, provesLocking } from '../kit/proves-locking'
import { ownCluster, withClient } from '../kit/servers/index'

describe('A cluster with a password', () => {
  const password = 'p@ss word'
  const setup = ownCluster()
  let watching: Cluster
  let look: Look

  before(async () => {
    for (const node of setup.nodes)
      await withClient(node, (client) => client.config('SET', 'requirepass', password))
    watching = new Cluster(addresses(), { redisOptions: { password } })
    look = { at: watching, subscribers }
  })
  after(async () => {
    watching?.disconnect()
  })

  const addresses = () => setup.nodes.map(({ host, port }) => ({ host, port }))

  async function subscribers(channel: string): Promise<number> {
    const counted = await countedByAuto()
    const counts = await Promise.all(
      watching.nodes('master').map((node) => node.call('PUBSUB', counted, channel)),
    )
    return counts.reduce((sum: number, reply) => sum + Number((reply as [string, number])[1]), 0)
  }

  it('A cluster password is taken in its options', async () => {
    const redis = { nodes: addresses(), options: { redisOptions: { password } } }
    await provesLocking(await createRedisson({ redis }), await createRedisson({ redis }), look)
  })

  // ioredis uses it for that node alone; the others, and our subscribers, must know it as well.
  it('A cluster password is taken in the URL or the address of one node', async () => {
    const [{ host, port }] = addresses() as [{ host: string; port: number }]
    const url = { nodes: [`redis://:${encodeURIComponent(password)}@${host}:${port}`] }
    const address = { nodes: [{ host, port, password }] }
    for (const redis of [url, address])
      await provesLocking(await createRedisson({ redis }), await createRedisson({ redis }), look)
  })

  it('A cluster password is taken in an instance', async () => {
    const instance = new Cluster(addresses(), { redisOptions: { password } })
    try {
      await instance.get('connected')
      const holder = await createRedisson({ redis: instance })
      await provesLocking(holder, await createRedisson({ redis: instance }), look)
    } finally {
      instance.disconnect()
    }
  })
})
