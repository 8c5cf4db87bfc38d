import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { Redisson } from 'rlock'
import { createRedisson, openRedis, uniqueName } from '../../../test/kit/clients'
import { Program } from '../../../test/kit/program'
import { openProxy } from '../../../test/kit/proxies'
import { sharedStandalone, waitUntil } from '../../../test/kit/servers/index'
import { NO_PROCESS, NO_USERS, skipInMemory } from '../../../test/kit/stand-in'
import { idempotencyKey as express } from '../src/express'
import { idempotencyKey as fastify } from '../src/fastify'
import { idempotencyKey as hono } from '../src/hono'
import { idempotencyKey as nest } from '../src/nest'
import { APPS, type App, type Handlers } from './apps'

const PROGRAM = '../../../packages/recipes/test/program.ts'

interface Sent {
  readonly status: number
  readonly text: string
  readonly run: string | null
  readonly type: string | null
}

async function send(
  url: string,
  key: string | undefined,
  { method = 'POST', path = '/pay', body = { amount: 42 } as unknown, user = 'a' } = {},
): Promise<Sent> {
  const headers = {
    'content-type': 'application/json',
    authorization: user,
    ...(key && { 'idempotency-key': key }),
  }
  const response = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) })
  const { status } = response
  return {
    ...{ status, text: await response.text(), run: response.headers.get('x-run') },
    type: response.headers.get('content-type'),
  }
}

for (const [framework, start] of Object.entries(APPS))
  describe(`Idempotency-Key with ${framework}`, () => {
    const apps: App[] = []
    let runs: number
    let bodies: unknown[]
    let status: number
    /** The handler waits for it. */
    let gate: Promise<void> | undefined
    let key: string

    beforeEach(() => {
      runs = 0
      bodies = []
      status = 200
      gate = undefined
      key = randomUUID()
    })
    afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())))

    const handlers: Handlers = {
      async pay(body) {
        const run = ++runs
        bodies.push(body)
        await gate
        return { run }
      },
      status() {
        runs++
        return status
      },
    }

    async function open(options = {}, client?: Redisson): Promise<string> {
      const redisson = client ?? (await createRedisson())
      redisson.on('error', () => {})
      const app = await start(redisson, handlers, options)
      apps.push(app)
      return app.url
    }

    /** Two instances, and a request to the first whose handler waits until `go()`. */
    async function inFlight(options = {}) {
      const urls = [await open(options), await open(options)] as const
      let go!: () => void
      gate = new Promise((resolve) => {
        go = resolve
      })
      const first = send(urls[0], key)
      await waitUntil('the handler runs', () => runs === 1)
      return { urls, first, go }
    }

    it(`${framework}: the second request gets the stored answer, also from another instance`, async () => {
      const urls = [await open(), await open()]
      const first = await send(urls[0]!, key)
      expect(first).to.deep.include({ status: 201, text: '{"run":1}', run: '1' })
      for (const url of urls) expect(await send(url, key)).to.deep.equal(first)
      expect(await send(urls[1]!, `"${key}"`)).to.deep.equal(first)
      expect(bodies).to.deep.equal([{ amount: 42 }])
    })

    it(`${framework}: a request without the header passes, or is answered 400 if required`, async () => {
      const [free, strict] = [await open(), await open({ required: true })]
      expect([await send(free, undefined), await send(free, undefined)].map(({ run }) => run)).to.deep.equal([
        '1',
        '2',
      ])
      for (const [url, bad] of [
        [strict, undefined],
        [free, '"'],
        [free, 'a b'],
        [free, 'x'.repeat(256)],
      ] as const) {
        const answer = await send(url, bad)
        expect(answer.status, bad).to.equal(400)
        expect(answer.type).to.match(/^application\/problem\+json/)
        expect(JSON.parse(answer.text)).to.include({ status: 400 })
      }
      expect(runs).to.equal(2)
    })

    it(`${framework}: a second request in flight is answered 409, or waits for the answer`, async () => {
      const { urls, first, go } = await inFlight()
      for (const url of urls) expect((await send(url, key)).status).to.equal(409)
      const patient = await open({ waitTime: 30_000 })
      const waiting = send(patient, key)
      go()
      expect(await waiting).to.deep.equal(await first)
      expect(runs).to.equal(1)
    })

    it(`${framework}: a key with another body or path is answered 422; users have keys of their own`, async () => {
      const url = await open()
      await send(url, key)
      expect((await send(url, key, { body: { amount: 43 } })).status).to.equal(422)
      expect((await send(url, key, { method: 'PATCH', path: '/status' })).status).to.equal(422)
      expect(await send(url, key, { user: 'b' })).to.deep.include({ status: 201, run: '2' })
      expect(runs).to.equal(2)
    })

    it(`${framework}: an answer is stored, and one of 429 or of 500 or more is tried again`, async () => {
      const url = await open()
      const patch = { method: 'PATCH', path: '/status' }
      for (status of [503, 429]) expect((await send(url, key, patch)).status).to.equal(status)
      status = 402
      const declined = await send(url, key, patch)
      expect(declined).to.deep.include({ status: 402, text: '{"status":402}', run: 'status' })
      status = 503
      expect(await send(url, key, patch)).to.deep.equal(declined)
      expect(runs).to.equal(3)
    })

    it(`${framework}: a handler that throws stores nothing`, async () => {
      const url = await open()
      gate = Promise.reject(new Error('broken'))
      gate.catch(() => {})
      expect((await send(url, key)).status).to.equal(500)
      gate = undefined
      expect(await send(url, key)).to.deep.include({ status: 201, run: '2' })
    })

    it(`${framework}: a client that left gets the answer of its request when it comes again`, async () => {
      const url = await open({ waitTime: 30_000 })
      let go!: () => void
      gate = new Promise((resolve) => {
        go = resolve
      })
      const abort = new AbortController()
      const headers = { 'content-type': 'application/json', authorization: 'a', 'idempotency-key': key }
      const left = fetch(`${url}/pay`, {
        method: 'POST',
        headers,
        body: '{"amount":42}',
        signal: abort.signal,
      })
      left.catch(() => {})
      await waitUntil('the handler runs', () => runs === 1)
      abort.abort()
      const again = send(url, key)
      go()
      expect(await again).to.deep.include({ status: 201, run: '1' })
      expect(runs).to.equal(1)
    })

    it(`${framework}: an answer that cannot be stored is not sent`, async () => {
      const url = await open()
      let go!: () => void
      gate = new Promise((resolve) => {
        go = resolve
      })
      const first = send(url, key)
      await waitUntil('the handler runs', () => runs === 1)
      const redis = await openRedis()
      for (const found of await redis.keys('rlock_once:{http:*'))
        if ((await redis.hget(found, 'owner')) !== null) await redis.del(found)
      go()
      expect(await first)
        .to.include({ status: 500 })
        .and.not.include({ text: '{"run":1}' })
    })

    it(`${framework}: while Redis is away the answer is 503, and names no client and no address`, async function () {
      skipInMemory(this, NO_USERS)
      const proxy = await openProxy(await sharedStandalone())
      const client = await createRedisson({ redis: proxy.url }, { unavailableAfter: 300 })
      const url = await open({}, client)
      proxy.breakOff()
      const { status, text } = await send(url, key)
      expect(status).to.equal(503)
      expect(text)
        .to.include('cannot be reached')
        .and.not.match(/client [0-9a-f]|127\.0\.0\.1/)
      await proxy.accept()
      await waitUntil('it runs', async () => (await send(url, key)).status === 201)
      expect(runs).to.equal(1)
    })

    it(`${framework}: the answer is kept as long as the options say`, async () => {
      const url = await open({ keep: 50 })
      await send(url, key)
      await waitUntil('it runs again', async () => (await send(url, key)).run === '2', 5_000, 30)
    })
  })

describe('Idempotency-Key and other middleware', () => {
  it('A replay keeps the headers of its own request; another method with a key is answered 422', async () => {
    const app = await APPS.Express!(
      await createRedisson(),
      { pay: async () => ({ run: 1 }), status: () => 200 },
      {},
    )
    try {
      const key = randomUUID()
      const call = async (method: string) => {
        const headers = { 'content-type': 'application/json', 'idempotency-key': key }
        return await fetch(`${app.url}/pay`, { method, headers, body: '{}' })
      }
      const [first, second] = [await call('POST'), await call('POST')]
      expect(second.headers.get('x-run')).to.equal('1')
      expect(second.headers.get('x-request')).to.not.equal(first.headers.get('x-request'))
      expect((await call('PATCH')).status).to.equal(422)
    } finally {
      await app.close()
    }
  })
})

describe('Idempotency-Key and processes that are killed', () => {
  for (const [moment, expected] of [
    ['in the handler', '2'],
    ['before the answer is stored', '2'],
    ['after the answer is stored, and before it is sent', '1'],
  ] as const)
    it(`A process killed ${moment}: the other instance answers with run ${expected}`, async function () {
      skipInMemory(this, NO_PROCESS)
      const { url } = await sharedStandalone()
      const [key, counter] = [randomUUID(), uniqueName('runs')]
      const programs = [moment, 'never'].map(
        (when) => new Program(PROGRAM, 'payments', url, '800', counter, when),
      )
      const [dying, other] = await Promise.all(programs.map((program) => program.line()))
      const died = await send(dying!, key).catch(() => 'died')
      expect(died).to.equal('died')
      const answer = await send(other!, key)
      expect(answer).to.deep.include({ status: 200, text: `{"run":${expected}}` })
      expect(await send(other!, key)).to.deep.equal(answer)
      expect(await (await openRedis()).get(counter)).to.equal(expected)
    })
})

describe('The options of idempotencyKey()', () => {
  for (const [framework, idempotencyKey] of Object.entries({ express, fastify, hono, nest }))
    it(`Bad options of ${framework} are refused when the middleware is made`, async () => {
      const redisson = await createRedisson()
      const made = (options: object) => () => idempotencyKey(redisson, options as never)
      expect(made({ kept: 1 })).to.throw(TypeError, 'kept')
      expect(made({ keep: 'a day' })).to.throw(TypeError, 'keep')
      expect(made({ keep: 0 })).to.throw(RangeError, 'keep')
      expect(made({ waitTime: 'long' })).to.throw(TypeError, 'waitTime')
      expect(made({ required: 'yes' })).to.throw(TypeError, 'required')
      expect(made({ scope: 'user' })).to.throw(TypeError, 'scope')
      expect(() => idempotencyKey({} as Redisson)).to.throw(TypeError, 'client')
    })
})
