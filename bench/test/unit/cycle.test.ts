import { expect } from 'chai'
import { startStandalone } from '../../../test/kit/servers'
import { openLayers } from '../../cycle/layers'

describe('npm run bench:cycle', () => {
  it('Each layer of a lock, of a handoff, and of the ways to take a lock does its work', async () => {
    const server = await startStandalone()
    const layers = await openLayers(server.url)
    try {
      for (const { title, run } of [...layers.cycle, ...layers.handoff, ...layers.ways])
        expect(await run(performance.now() + 5), title).to.be.above(0)
    } finally {
      await layers.close()
      await server.stop()
    }
  })
})
