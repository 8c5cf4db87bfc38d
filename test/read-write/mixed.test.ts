import { openRedis, uniqueName } from '../kit/clients'
import { callersSpec, LONG, runMixed } from '../kit/read-write/mixed'
import { ownServer } from '../kit/servers/index'

describe('A read-write lock of several processes', () => {
  const server = ownServer()

  it('No writer overlaps another, no read is torn, no caller waits for a lease', async () => {
    const spec = callersSpec(uniqueName('mixed'), LONG ? 30_000 : 4_000)
    const said = await runMixed(server.url, await openRedis(server.url), 3, spec, async () => [])
    console.log(`        ${said}`)
  })
})
