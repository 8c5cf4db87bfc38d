import 'reflect-metadata'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Body, Controller, HttpException, Inject, Module, Patch, Post, Res } from '@nestjs/common'
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core'
import express from 'express'
import { fastify } from 'fastify'
import { Redisson } from 'rlock'
import { idempotencyKey as ofExpress } from '../src/express'
import { idempotencyKey as ofFastify } from '../src/fastify'
import { idempotencyKey as ofHono } from '../src/hono'
import { idempotencyKey as ofNest } from '../src/nest'

/** What the handlers of every app do. */
export interface Handlers {
  /** `POST /pay`: answers 201 with a header `x-run`. */
  pay(body: unknown): Promise<{ run: number }>
  /** `PATCH /status`: answers this status. */
  status(): number
}

export interface App {
  readonly url: string
  close(): Promise<unknown>
}

interface Options {
  required?: boolean
  waitTime?: number
  keep?: number
}

type Start = (redisson: Redisson, handlers: Handlers, options: Options) => Promise<App>

async function listening(server: Server): Promise<App> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${port}`, close }
}

/** What a middleware before this one sets: it is of one request. */
let requests = 0

const startExpress: Start = (redisson, handlers, options) => {
  const app = express().set('env', 'test')
  app.use((_, response, next) => {
    response.set('x-request', String(++requests))
    next()
  })
  app.use(express.json(), ofExpress(redisson, options))
  const pay: express.Handler = async (request, response) => {
    const { run } = await handlers.pay(request.body)
    response.status(201).set('x-run', String(run)).json({ run })
  }
  app.post('/pay', pay)
  app.patch('/pay', pay)
  app.patch('/status', (_, response) => {
    const status = handlers.status()
    response.writeHead(status, { 'x-run': 'status' })
    response.write('{"status"')
    response.end(`:${status}}`)
  })
  return listening(createServer(app))
}

const startFastify: Start = async (redisson, handlers, options) => {
  const app = fastify()
  await app.register(ofFastify(redisson, options))
  app.post('/pay', async (request, reply) => {
    const { run } = await handlers.pay(request.body)
    return reply.code(201).header('x-run', String(run)).send({ run })
  })
  app.patch('/status', async (_, reply) => {
    const status = handlers.status()
    return reply.code(status).header('x-run', 'status').send({ status })
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { url, close: () => app.close() }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts)
}

const startHono: Start = async (redisson, handlers, options) => {
  // Its types are for another TypeScript configuration.
  const { Hono } = require('hono')
  const app = new Hono()
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  app.onError((error: any, c: any) => error.getResponse?.() ?? c.text('broken', 500))
  app.use(ofHono(redisson, options))
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  app.post('/pay', async (c: any) => {
    const { run } = await handlers.pay(await c.req.json())
    return c.json({ run }, 201, { 'x-run': String(run) })
  })
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  app.patch('/status', (c: any) => {
    const status = handlers.status()
    return c.json({ status }, status, { 'x-run': 'status' })
  })
  return await listening(
    createServer(async (request, response) => {
      const { method, url, headers } = request
      const body = method === 'GET' ? undefined : new Uint8Array(await bodyOf(request))
      const given = new Request(`http://127.0.0.1${url}`, {
        method: method!,
        headers: headers as never,
        body: body!,
      })
      const answer: Response = await app.fetch(given)
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      response.end(Buffer.from(await answer.arrayBuffer()))
    }),
  )
}

const startNest: Start = async (redisson, handlers, options) => {
  @Controller()
  class Payments {
    constructor(@Inject('HANDLERS') private readonly own: Handlers) {}

    @Post('pay')
    async pay(
      @Body() body: unknown,
      @Res({ passthrough: true }) response: { header(name: string, value: string): void },
    ) {
      const { run } = await this.own.pay(body)
      response.header('x-run', String(run))
      return { run }
    }

    @Patch('status')
    async status(@Res({ passthrough: true }) response: { header(name: string, value: string): void }) {
      const status = this.own.status()
      response.header('x-run', 'status')
      throw new HttpException({ status }, status)
    }
  }

  @Module({
    controllers: [Payments],
    providers: [
      { provide: Redisson, useValue: redisson },
      { provide: 'HANDLERS', useValue: handlers },
      {
        provide: APP_INTERCEPTOR,
        inject: [Redisson],
        useFactory: (client: Redisson) => ofNest(client, options),
      },
    ],
  })
  class AppModule {}

  const app = await NestFactory.create(AppModule, { logger: false })
  await app.listen(0, '127.0.0.1')
  const url = (await app.getUrl()).replace('[::1]', '127.0.0.1')
  return { url, close: () => app.close() }
}

export const APPS: Record<string, Start> = {
  Express: startExpress,
  Fastify: startFastify,
  Hono: startHono,
  Nest: startNest,
}
