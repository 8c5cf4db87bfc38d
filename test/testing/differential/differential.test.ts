import { expect } from 'chai'
import { luaSources } from '../../../src/scripts/lua.generated'
import { closeAll, openRedis } from '../../kit/clients'
import { Random } from '../../kit/random'
import { type Standalone, startStandalone } from '../../kit/servers/index'
import { type Corpus, recordCalls } from './corpus'
import { mutated } from './mutation'
import { difference, TwoServers } from './two-servers'

const SEED = Number(process.env.RLOCK_SEED ?? 16)
/** The full run is 100000. */
const CALLS = Number(process.env.RLOCK_CALLS ?? 3_000)
/** After so many calls both servers begin anew. */
const A_STATE = 40

describe('The in-memory server beside a real one', function () {
  this.timeout(60_000 + CALLS * 5)

  const random = new Random(SEED)
  let names: (keyof typeof luaSources)[]
  let server: Standalone
  let corpus: Corpus
  let both: TwoServers

  before(async () => {
    server = await startStandalone()
    corpus = await recordCalls(random)
    // Arguments that no client sends, such as an id that is no hexadecimal number, mean nothing to a script.
    names = (Object.keys(luaSources) as (keyof typeof luaSources)[]).filter((name) => corpus.has(name))
    both = await TwoServers.open(await openRedis(server.url))
  })
  after(async () => {
    await closeAll()
    await server?.stop()
  })

  it(`Each script of the locks, the fenced lock and the latch answers and changes in memory what it does in Redis, in ${CALLS} calls (seed ${SEED})`, async () => {
    const inStep = new Set<string>()
    for (let at = 0; at < CALLS; at++) {
      if (at % A_STATE === 0) await both.flush()
      if (random.chance(3)) await disturb()
      const name = random.pick(names)
      const call = mutated(corpus, name, both.keys, random)
      const { real, memory } = await both.run(luaSources[name], call)
      const found = difference(real, memory)
      if (found !== undefined)
        throw new Error(
          `call ${at}: ${name} ${JSON.stringify(call)}\n${JSON.stringify(real.state)}\n${found}`,
        )
      if (typeof real.reply !== 'string' || !/^(ERR|WRONGTYPE) /.test(real.reply)) inStep.add(name)
      if (both.isAboutToChange) await both.flush()
    }
    // Not only refused.
    expect([...inStep].sort()).to.deep.equal([...names].sort())
  })

  /** Makes a key another than scripts leave behind. */
  async function disturb() {
    const recorded = [...corpus.values()].flat().flatMap(({ keys }) => keys)
    const count = random.pick(['0', '1', '3', 'x'])
    const [source, arg] = random.pick([
      ["return redis.call('set', KEYS[1], ARGV[1], 'px', 77000)", random.pick([count, '9007199254740991'])],
      [
        "redis.call('del', KEYS[1]) return redis.call('hset', KEYS[1], 'a:1', ARGV[1], 'mode', 'write')",
        count,
      ],
      ["redis.call('del', KEYS[1]) return redis.call('rpush', KEYS[1], ARGV[1], 'x')", count],
      ["redis.call('del', KEYS[1]) return redis.call('zadd', KEYS[1], 5, ARGV[1])", count],
      ["redis.call('del', KEYS[1]) return redis.call('sadd', KEYS[1], ARGV[1])", count],
      ["return redis.call('persist', KEYS[1])", ''],
      ["return redis.call('del', KEYS[1])", ''],
    ])
    const call = { keys: [random.pick(recorded)], args: [arg] }
    const { real, memory } = await both.run(source, call)
    expect(difference(real, memory), `${source} ${JSON.stringify(call)}`).to.equal(undefined)
  }
})
