import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Redisson } from 'rlock'
import { Unanswered } from './http/first-answer'
import { HeldResponse } from './http/held-response'
import { Idempotency, type IdempotencyKeyOptions } from './http/idempotency'

export type { IdempotencyKeyOptions }

/** A request of Express, or of Node's own server with a `body`. */
export type ExpressRequest = IncomingMessage & {
  /** The URL of the request, where a router has shortened `url`. */
  originalUrl?: string
  /** The body, parsed. */
  body?: unknown
}

/** A middleware of Express. */
export type ExpressMiddleware = (
  request: ExpressRequest,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

/**
 * A middleware for requests with the header `Idempotency-Key`, behind the one that parses the body. The first POST or PATCH with
 * a key runs, and its answer is stored before it is sent; the next ones with that key get the stored answer. An answer of 429, or
 * of 500 or more, is not stored.
 *
 * 400: no key where one is required, or a malformed one. 409: the first request is in progress. 422: the key was used for another
 * request: another method, URL or body.
 * @example
 * ```ts
 * import { idempotencyKey } from '@rlock/recipes/express'
 * app.post('/payments', express.json(), idempotencyKey(redisson, { required: true }), pay)
 * ```
 */
export function idempotencyKey(
  redisson: Redisson,
  options: IdempotencyKeyOptions<ExpressRequest> = {},
): ExpressMiddleware {
  const idempotency = new Idempotency<ExpressRequest>(
    redisson,
    options,
    ({ headers }) => headers.authorization,
  )
  return (request, response, next) => {
    let held: HeldResponse | undefined
    const run = () => {
      held = new HeldResponse(response)
      next()
      return held.answer
    }
    const answer = async () => {
      const handled = await idempotency.handleParsed(request, run)
      if (!handled) return next()
      if (held) return held.send()
      response.statusCode = handled.answer.status
      for (const [name, value] of handled.answer.headers) response.setHeader(name, value)
      response.end(handled.answer.body)
    }
    answer().catch((error) => {
      held?.discard()
      if (!(error instanceof Unanswered)) next(error)
    })
  }
}
