import { expect } from 'chai'
import { openRedis } from '../../../../test/kit/clients'
import { ownServer } from '../../../../test/kit/servers/index'
import { type Comparison, compare } from './comparison'

const SEED = Number(process.env.RLOCK_SEED ?? 16)
/** The full run is `test/soak/differential/differential.ts --calls 100000`. */
const CALLS = 3_000

describe('The in-memory server beside a real one', function () {
  this.timeout(120_000)

  const server = ownServer()
  let found: Comparison

  before(async () => {
    found = await compare({ redis: await openRedis(server.url), seed: SEED, calls: CALLS })
  })

  it('Each script of the package is among the calls', () => {
    expect(found.missing).to.deep.equal([])
  })

  it(`Scripts do in memory what they do in Redis, in ${CALLS} calls (seed ${SEED})`, () => {
    if (found.difference !== undefined) throw new Error(found.difference)
  })

  it('Each script also does its work in some of the calls', () => {
    const refused = [...found.scripts].filter(([, { calls, errors }]) => errors === calls)
    expect(refused).to.deep.equal([])
  })
})
