import { expect } from 'chai'
import { openRedis } from '../../../test/kit/clients'
import { Random } from '../../../test/kit/random'
import { freshServer } from '../../../test/kit/servers/index'
import { escapeGlob, glob } from '../src/glob'

describe('The patterns of the command rlock', function () {
  this.timeout(60_000)

  it('Patterns of the command rlock match what the server matches, also odd ones', async () => {
    const server = await freshServer()
    const redis = await openRedis(server.url)
    const random = new Random(45)
    const some = (letters: string, most: number) =>
      Array.from({ length: random.between(1, most) }, () => random.pick([...letters])).join('')
    const names = [...new Set(Array.from({ length: 200 }, () => some('ab]-^z\\é*', 6)))]
    await redis.mset(names.flatMap((name) => [name, '1']))
    const patterns = Array.from({ length: 2_000 }, () => some('ab][[*?-^z\\', 7))
    for (const pattern of ['order]1', '[z-a]*', '[', '[]', '[^', '\\', '*[a-', ...patterns]) {
      const expected = (await redis.keys(pattern)).sort()
      expect(names.filter(glob(pattern)).sort(), pattern).to.deep.equal(expected)
    }
    for (const name of names) expect(names.filter(glob(escapeGlob(name)))).to.deep.equal([name])
  })

  it('A pattern with many stars costs a long name no more than their product', () => {
    const began = performance.now()
    const name = 'order:'.repeat(10_000)
    expect(glob('*order:*order:*stock')(name)).to.equal(false)
    expect(glob(`${'*order:'.repeat(50)}*stock`)(name)).to.equal(false)
    expect(performance.now() - began).to.be.below(30_000)
  })
})
