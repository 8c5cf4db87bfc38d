import { inspect } from 'node:util'
import { expect } from 'chai'
import { RedisRefusedError, Redisson } from '../../src/index'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { printedInEachTest } from '../kit/printed'
import { ownServer, waitUntil, withClient } from '../kit/servers/index'

const PASSWORD = 's3cret/p:ss word'
const WRONG = 'wr0ng-p@ssword'

/** Everything a logger could make of a value. */
function shown(value: unknown): string {
  const { message, stack, cause } = (value ?? {}) as Error
  return [
    inspect(value, { depth: 20, showHidden: true, getters: false }),
    String(value),
    message,
    stack,
    inspect(cause, { depth: 20 }),
  ].join('\n')
}

function expectNoSecret(text: string, what: string) {
  for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), WRONG, encodeURIComponent(WRONG)])
    expect(text.includes(secret), `${what} shows a password`).to.equal(false)
}

describe('A password or URL appears in no error, event, warning or log (D7)', () => {
  const server = ownServer({ requirepass: PASSWORD })
  const printed = printedInEachTest(shown)
  afterEach(() => expectNoSecret(printed.join('\n'), 'what was printed'))

  const url = (password: string, port = server.port) =>
    `redis://:${encodeURIComponent(password)}@${server.host}:${port}`

  it('A wrong password is shown nowhere, in whatever form it is given (D7)', async () => {
    const { host, port } = server
    for (const redis of [url(WRONG), { host, port, password: WRONG }, `${url(WRONG)}/3`]) {
      const error = await rejection(Redisson.create({ redis }))
      expect(error).to.be.instanceOf(RedisRefusedError)
      expect(error.message).to.include(`${host}:${port}`)
      expectNoSecret(shown(error), 'the error')
    }
  })

  it('A password is shown nowhere when no server listens, or the URL makes no sense (D7)', async () => {
    for (const redis of [url(WRONG, 1), `redis//:${WRONG}@host`, `http://:${WRONG}@host`, `${WRONG}`]) {
      const error = await rejection(Redisson.create({ redis }))
      expectNoSecret(shown(error), 'the error')
    }
  })

  it('A password that is revoked while the client is connected is shown nowhere (D7)', async () => {
    const redisson = await createRedisson({ redis: url(PASSWORD) }, { unavailableAfter: 500 })
    const events: unknown[] = []
    for (const event of ['error', 'lockLost', 'renewalFailed'] as const)
      redisson.on(event, (payload: unknown) => events.push(payload))
    const lock = redisson.getLock(uniqueName('secrets'))
    await lock.lock()
    await withClient(server, async (client) => {
      await client.auth(PASSWORD)
      await client.config('SET', 'requirepass', 'another one')
      await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    })
    try {
      await waitUntil('an error is reported', () => events.length > 0)
      const errors = [await rejection(lock.unlock()), await rejection(lock.tryLock())]
      expectNoSecret(shown([...events, ...errors]), 'an event or error')
    } finally {
      await withClient(server, async (client) => {
        await client.auth('another one')
        await client.config('SET', 'requirepass', PASSWORD)
      })
    }
  })

  it('A password is shown nowhere when objects of the client are logged (D7)', async () => {
    const redisson = await createRedisson({ redis: url(PASSWORD) })
    const lock = redisson.getLock(uniqueName('secrets'))
    const hold = await lock.acquire()
    for (const [what, value] of Object.entries({ redisson, lock, hold })) {
      expectNoSecret(inspect(value, { depth: 20 }), what)
      expectNoSecret(JSON.stringify(value), `${what} as JSON`)
    }
    await hold.unlock()
  })
})
