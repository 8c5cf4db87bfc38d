import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { expect } from 'chai'
import express from 'express'
import { type FastifyReply, fastify } from 'fastify'
import { closeAll, createRedisson } from '../../../test/kit/clients'
import { waitUntil } from '../../../test/kit/servers/index'
import { idempotencyKey as ofExpress } from '../src/express'
import { idempotencyKey as ofFastify } from '../src/fastify'

/** Handlers that answer in other ways than by one return value. */
describe('Idempotency-Key and ways to answer', () => {
  const closing: (() => unknown)[] = []
  let key: string
  let runs: number

  beforeEach(() => {
    key = randomUUID()
    runs = 0
  })
  afterEach(async () => {
    await Promise.all(closing.splice(0).map((close) => close()))
    await closeAll()
  })

  type Reply = FastifyReply

  async function openFastify(handler: (reply: Reply) => unknown, onError?: (reply: Reply) => unknown) {
    const app = fastify()
    await app.register(ofFastify(await createRedisson()))
    if (onError) app.setErrorHandler((_, __, reply) => onError(reply))
    app.post('/', (_, reply) => {
      runs++
      return handler(reply)
    })
    closing.push(() => app.close())
    return await app.listen({ host: '127.0.0.1', port: 0 })
  }

  async function openExpress(
    handler: express.RequestHandler,
    parse: express.RequestHandler = express.json(),
  ) {
    const app = express().set('env', 'test')
    app.post('/', parse, ofExpress(await createRedisson()), (request, response, next) => {
      runs++
      return handler(request, response, next)
    })
    const server = createServer(app)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => {
      server.closeAllConnections()
      server.close()
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  async function post(url: string, body = '{}', type = 'application/json'): Promise<string> {
    const headers = { 'content-type': type, 'idempotency-key': key }
    const response = await fetch(url, { method: 'POST', headers, body })
    return `${response.status} ${await response.text()}`
  }

  /** The key is free soon after the first request, and the handler runs again. */
  async function runsAgain(url: string) {
    await post(url).catch(() => {})
    await waitUntil(
      'it runs again',
      async () => {
        await post(url).catch(() => {})
        return runs === 2
      },
      5_000,
      20,
    )
  }

  for (const [way, handler, onError] of [
    ['send() without return', async (reply: Reply) => void reply.code(201).send({ paid: 1 })],
    [
      'send() in an async error handler',
      () => Promise.reject(new Error('broken')),
      async (reply: Reply) => void reply.code(201).send({ paid: 1 }),
    ],
    [
      'send() before an error',
      async (reply: Reply) => {
        reply.code(201).send({ paid: 1 })
        throw new Error('after the answer')
      },
    ],
    [
      'a Response of fetch',
      async () => new Response('{"paid":1}', { status: 201, headers: { 'x-run': '1' } }),
    ],
  ] as const)
    it(`Fastify, ${way}: the first answer is the stored one`, async () => {
      const url = await openFastify(handler, onError)
      expect([await post(url), await post(url)]).to.deep.equal(['201 {"paid":1}', '201 {"paid":1}'])
      expect(runs).to.equal(1)
    })

  const failing = () =>
    Readable.from(
      (function* () {
        yield 'x'
        throw new Error('broken')
      })(),
    )

  for (const [way, handler] of [
    ['a stream that fails', async () => failing()],
    [
      'hijack()',
      (reply: Reply) => {
        reply.hijack()
        reply.raw.end('by itself')
      },
    ],
    ['a response that is destroyed', (reply: Reply) => void reply.hijack().raw.destroy()],
  ] as const)
    it(`Fastify, ${way}: nothing is stored, and the key is free`, async () => {
      await runsAgain(await openFastify(handler))
    })

  for (const [way, handler] of [
    ['a stream that fails', (response: express.Response) => pipeline(failing(), response).catch(() => {})],
    ['a response that is destroyed', (response: express.Response) => void response.destroy()],
  ] as const)
    it(`Express, ${way}: nothing is stored, and the key is free`, async () => {
      await runsAgain(await openExpress((_, response) => handler(response)))
    })
})
