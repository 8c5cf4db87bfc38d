import type { Redisson } from 'rlock'
import { Idempotency, type IdempotencyKeyOptions } from './http/idempotency'

export type { IdempotencyKeyOptions }

/** The part of a context of Hono that matters here. */
export interface HonoContextPart {
  readonly req: {
    readonly method: string
    readonly url: string
    header(name: string): string | undefined
    arrayBuffer(): Promise<ArrayBuffer>
  }
  readonly res: Response
}

/**
 * A middleware for requests with the header `Idempotency-Key`. The first POST or PATCH with a key runs, and its answer is stored
 * before it is sent; the next ones with that key get the stored answer. An answer of 429, or
 * of 500 or more, is not stored.
 *
 * 400: no key where one is required, or a malformed one. 409: the first request is in progress. 422: the key was used for another
 * request: another method, URL or body.
 * @example
 * ```ts
 * import { idempotencyKey } from '@rlock/recipes/hono'
 * app.post('/payments', idempotencyKey(redisson, { required: true }), pay)
 * ```
 */
export function idempotencyKey(
  redisson: Redisson,
  options: IdempotencyKeyOptions<HonoContextPart> = {},
): (context: HonoContextPart, next: () => Promise<void>) => Promise<Response | undefined> {
  const idempotency = new Idempotency<HonoContextPart>(redisson, options, ({ req }) =>
    req.header('authorization'),
  )
  return async (context, next) => {
    const { req } = context
    const { method, url } = req
    const header = req.header('idempotency-key')
    // Only a request with a key is read here.
    const bytes = header === undefined ? '' : new Uint8Array(await req.arrayBuffer())
    const asked = { method, url, header, body: () => bytes, scope: idempotency.scopeOf(context) }
    const handled = await idempotency.handle(asked, async () => {
      await next()
      const { status, headers } = context.res
      return { status, headers: [...headers], body: Buffer.from(await context.res.clone().arrayBuffer()) }
    })
    if (!handled) await next()
    if (!handled || handled.first) return undefined
    const { answer } = handled
    const headers = new Headers()
    for (const [name, value] of answer.headers) headers.append(name, String(value))
    return new Response(answer.body.length > 0 ? new Uint8Array(answer.body) : null, {
      status: answer.status,
      headers,
    })
  }
}
