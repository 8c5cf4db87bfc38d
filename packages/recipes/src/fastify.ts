import type { ServerResponse } from 'node:http'
import type { Redisson } from 'rlock'
import { bytesOf, type Headers, headersSince } from './http/answer'
import { FirstAnswer } from './http/first-answer'
import { type Handled, Idempotency, type IdempotencyKeyOptions } from './http/idempotency'

export type { IdempotencyKeyOptions }

/** The part of a request of Fastify that matters here. */
export interface FastifyRequestPart {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: unknown
  readonly raw?: { readonly readableDidRead?: boolean }
}

/** The part of a reply of Fastify that matters here. */
interface Reply {
  readonly raw: ServerResponse
  readonly statusCode: number
  getHeaders(): Headers
  code(status: number): Reply
  header(name: string, value: unknown): Reply
  send(payload: unknown): Reply
}

interface Hooks {
  addHook(name: 'preHandler', hook: (request: FastifyRequestPart, reply: Reply) => Promise<unknown>): unknown
  addHook(
    name: 'onSend',
    hook: (request: FastifyRequestPart, reply: Reply, payload: unknown) => Promise<unknown>,
  ): unknown
}

/** A handler that runs, and whose answer is stored before it is sent. */
interface Running {
  isAnswering: boolean
  readonly first: FirstAnswer
  readonly before: Headers
  readonly handled: Promise<unknown>
}

/**
 * A plugin for requests with the header `Idempotency-Key`, for the routes that are registered behind it in the same scope. The
 * first POST or PATCH with a key runs, and its answer is stored before it is sent; the next ones with that key get the stored
 * answer. An answer of 429, or
 * of 500 or more, is not stored.
 *
 * 400: no key where one is required, or a malformed one. 409: the first request is in progress. 422: the key was used for another
 * request: another method, URL or body.
 * @example
 * ```ts
 * import { idempotencyKey } from '@rlock/recipes/fastify'
 * await fastify.register(idempotencyKey(redisson, { required: true }))
 * ```
 */
export function idempotencyKey(
  redisson: Redisson,
  options: IdempotencyKeyOptions<FastifyRequestPart> = {},
  // biome-ignore lint/suspicious/noExplicitAny: an instance of Fastify, whose types are not needed here.
): (fastify: any) => Promise<void> {
  const idempotency = new Idempotency<FastifyRequestPart>(
    redisson,
    options,
    ({ headers }) => headers.authorization,
  )
  const running = new WeakMap<FastifyRequestPart, Running>()

  /** Resolves with how the request is answered in place of its handler; undefined: the handler runs. */
  function begin(request: FastifyRequestPart, reply: Reply): Promise<Handled | undefined> {
    return new Promise((resolve, reject) => {
      const handled = idempotency.handleParsed(request, () => {
        const first = new FirstAnswer(reply.raw)
        running.set(request, { isAnswering: false, first, before: { ...reply.getHeaders() }, handled })
        resolve(undefined)
        return first.answer
      })
      handled.then(resolve, reject)
    })
  }

  const plugin = async (fastify: Hooks) => {
    fastify.addHook('preHandler', async (request, reply) => {
      const handled = await begin(request, reply)
      if (!handled) return undefined
      const { status, headers, body } = handled.answer
      for (const [name, value] of headers) reply.header(name, value)
      return reply.code(status).send(body)
    })
    fastify.addHook('onSend', async (request, reply, payload) => {
      const entry = running.get(request)
      if (!entry) return payload
      // At the end of an async handler Fastify sends again, unless the answer is out. The first one waits here, and it counts.
      if (entry.isAnswering) return new Promise(() => {})
      entry.isAnswering = true
      try {
        const body = await bytesOf(withoutResponse(reply, payload))
        const { statusCode: status } = reply
        entry.first.give({ status, headers: headersSince(entry.before, reply.getHeaders()), body })
        await entry.handled
        reply.code(status)
        return body
      } catch (error) {
        entry.first.fail(error)
        await entry.handled.catch(() => {})
        throw error
      } finally {
        running.delete(request)
      }
    })
  }
  // As fastify-plugin does: the hooks are for the scope that registers it, and not for one of its own.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}

/** A Response of fetch is taken apart by Fastify behind the hooks: status, headers and body. */
function withoutResponse(reply: Reply, payload: unknown): unknown {
  if (Object.prototype.toString.call(payload) !== '[object Response]') return payload
  const { status, headers, body } = payload as Response
  reply.code(status)
  for (const [name, value] of headers) reply.header(name, value)
  return body
}
