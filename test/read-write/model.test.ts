import * as fc from 'fast-check'
import type { Redis } from 'ioredis'
import { openRedis, uniqueName } from '../kit/clients'
import { OurClient } from '../kit/read-write-model/clients'
import { type Action, actions, Run, seed, WATCHDOG, wipe } from '../kit/read-write-model/run'
import { own } from '../kit/servers/own-server'
import { startServer } from '../kit/stand-in'
import { VirtualClock } from '../kit/virtual-clock'

const SEQUENCES = Number(process.env.RLOCK_SEQUENCES ?? 2_000)
const LANES = 4
/** The server's time cannot be moved, but what is left of every key of the lock can. */
const AGE = `
  for _, key in ipairs(redis.call('keys', '*' .. ARGV[1] .. '*')) do
    redis.call('pexpire', key, redis.call('pttl', key) - ARGV[2])
  end`

/** Random sequences over three clients of two callers each, against a model that knows nothing of Redis. */
describe('A read-write lock against its model', () => {
  const server = own(startServer)()

  it(`A read-write lock and its model do the same in ${SEQUENCES} random sequences`, async function () {
    this.timeout(600_000)
    const first = seed()
    // All lanes end before the server does, also when one of them has found something.
    const ended = await Promise.allSettled(
      Array.from({ length: LANES }, async (_, i) => {
        const lane = new Lane(server.url, await openRedis(server.url))
        try {
          await fc.assert(
            fc.asyncProperty(actions({ kill: true, time: true }), (sequence) => lane.run(sequence)),
            { numRuns: Math.ceil(SEQUENCES / LANES), seed: first + i },
          )
        } finally {
          await lane.close()
        }
      }),
    )
    for (const each of ended) if (each.status === 'rejected') throw withSeed(each.reason, first)
  })
})

function withSeed(error: Error, first: number): Error {
  // fast-check keeps apart what went wrong in the shrunk sequence.
  const { message = '' } = (error.cause ?? {}) as Partial<Error>
  return new Error(`again with RLOCK_SEED=${first}: ${error.message}\n${message}`, { cause: error })
}

/** Three clients that go through one sequence after the other. */
class Lane {
  private readonly clock = new VirtualClock()
  private clients: OurClient[] = []

  constructor(
    private readonly url: string,
    private readonly redis: Redis,
  ) {}

  async run(sequence: readonly Action[]): Promise<void> {
    const name = uniqueName('model')
    while (this.clients.length < 3) this.clients.push(await this.open())
    const run = new Run(
      this.redis,
      name,
      this.clients,
      () => this.open(),
      async () => {
        await this.redis.eval(AGE, 0, name, WATCHDOG / 3)
        this.clock.advance(WATCHDOG / 3)
        await Promise.all(this.clients.map((client) => client.quiet()))
      },
    )
    try {
      await run.all(sequence)
    } catch (error) {
      // Whatever they hold belongs to this sequence; the next one starts with others.
      await this.close()
      throw error
    } finally {
      await wipe(this.redis, name)
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.clients.splice(0).map((client) => client.kill()))
  }

  private open(): Promise<OurClient> {
    return OurClient.open(this.url, WATCHDOG, this.clock)
  }
}
