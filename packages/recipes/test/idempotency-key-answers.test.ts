import 'reflect-metadata'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Controller, Module, Post, Res, StreamableFile } from '@nestjs/common'
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core'
import { expect } from 'chai'
import express from 'express'
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify'
import { createRedisson } from '../../../test/kit/clients'
import { waitUntil } from '../../../test/kit/servers/index'
import { idempotencyKey as ofExpress } from '../src/express'
import { idempotencyKey as ofFastify } from '../src/fastify'
import { idempotencyKey as ofNest } from '../src/nest'

/** Handlers that answer in other ways than by one return value. */
describe('Idempotency-Key and ways to answer', () => {
  const closing: (() => unknown)[] = []
  let key: string
  let runs: number

  beforeEach(() => {
    key = randomUUID()
    runs = 0
  })
  afterEach(() => Promise.all(closing.splice(0).map((close) => close())))

  type Reply = FastifyReply

  async function openFastify(
    handler: (reply: Reply) => unknown,
    onError?: (reply: Reply) => unknown,
    prepare?: (app: FastifyInstance) => unknown,
  ) {
    const app = fastify()
    await app.register(ofFastify(await createRedisson()))
    prepare?.(app)
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

  const unparsed = (answer: string) =>
    expect(answer).to.match(/^500 /).and.include('idempotencyKey() behind the parser, such as express.json()')

  for (const [what, parse, type] of [
    ['before the parser', (_, __, next) => next(), 'application/json'],
    ['with a body of another type', express.json(), 'text/plain'],
    // As the body-parser of Express 4.
    [
      'with a body that a parser skipped',
      (request, _, next) => next(void Object.assign(request, { body: {} })),
      'text/plain',
    ],
  ] as [string, express.RequestHandler, string][])
    it(`Express, ${what}: the request is refused, and not compared`, async () => {
      const url = await openExpress((_, response) => void response.send('paid'), parse)
      for (const body of ['1', '2']) unparsed(await post(url, body, type))
      expect(runs).to.equal(0)
    })

  it('Express with express.text(): another text is answered 422, and no body at all is compared', async () => {
    const url = await openExpress((_, response) => void response.send('paid'), express.text())
    expect(await post(url, 'a', 'text/plain')).to.equal('200 paid')
    expect(await post(url, 'b', 'text/plain')).to.match(/^422/)
    key = randomUUID()
    const bare = () => fetch(url, { method: 'POST', headers: { 'idempotency-key': key } })
    expect([(await bare()).status, (await bare()).status, runs]).to.deep.equal([200, 200, 2])
  })

  it('Fastify with a body that is a stream: the request is refused, and not compared', async () => {
    const url = await openFastify(
      async () => 'paid',
      undefined,
      (app) => app.addContentTypeParser('text/plain', (_, payload, done) => done(null, payload)),
    )
    for (const body of ['1', '2']) unparsed(await post(url, body, 'text/plain'))
    expect(runs).to.equal(0)
  })

  describe('of Nest', () => {
    @Controller()
    class Answers {
      @Post('file')
      file() {
        runs++
        return new StreamableFile(Buffer.from('paid'))
      }

      @Post('buffer')
      buffer() {
        runs++
        return Buffer.from('paid')
      }

      @Post('itself')
      itself(@Res() response: express.Response) {
        response.json({ run: ++runs })
      }
    }

    async function openNest(): Promise<string> {
      const useValue = ofNest(await createRedisson())
      @Module({ controllers: [Answers], providers: [{ provide: APP_INTERCEPTOR, useValue }] })
      class AppModule {}
      const app = await NestFactory.create(AppModule, { logger: false })
      await app.listen(0, '127.0.0.1')
      closing.push(() => app.close())
      return await app.getUrl()
    }

    for (const path of ['file', 'buffer'])
      it(`Nest, a ${path}: it is answered 500, and nothing is stored`, async () => {
        const url = `${await openNest()}/${path}`
        for (const run of [1, 2]) {
          expect(await post(url)).to.match(/^500/)
          expect(runs).to.equal(run)
        }
      })

    it('Nest, @Res(): the answer of the handler itself is not stored', async () => {
      const url = `${await openNest()}/itself`
      expect([await post(url), await post(url)]).to.deep.equal(['201 {"run":1}', '201 {"run":2}'])
    })
  })
})
