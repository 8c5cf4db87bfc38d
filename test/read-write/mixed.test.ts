import { startStandalone } from '../servers'
import { closeAll, openRedis, uniqueName } from '../support/clients'
import { killPrograms } from '../support/program'
import { flowsSpec, LONG, runMixed } from './mixed'

describe('read-write lock: several processes', () => {
  let server: Awaited<ReturnType<typeof startStandalone>>
  before(async () => {
    server = await startStandalone()
  })
  after(() => server.stop())
  afterEach(async () => {
    await killPrograms()
    await closeAll()
  })

  it('no writer ever has company, no read is torn, nobody waits a lease', async () => {
    const spec = flowsSpec(uniqueName('mixed'), LONG ? 30_000 : 4_000)
    const said = await runMixed(server.url, await openRedis(server.url), 3, spec, async () => [])
    console.log(`        ${said}`)
  })
})
