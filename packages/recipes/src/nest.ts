import type { Redisson } from 'rlock'
import { type Answer, headersSince } from './http/answer'
import { Idempotency, type IdempotencyKeyOptions, Unstored } from './http/idempotency'

export type { IdempotencyKeyOptions }

/** The part of a request that matters here: that of Express and of Fastify have it. */
export interface NestRequestPart {
  readonly method: string
  readonly originalUrl?: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: unknown
}

/** The part of a response that matters here: that of Express and of Fastify have it. */
interface ResponsePart {
  readonly headersSent?: boolean
  /** That of Node, in one of Fastify. */
  readonly raw?: { readonly headersSent: boolean }
  statusCode: number
  getHeaders(): Record<string, number | string | string[] | undefined>
  header(name: string, value: unknown): unknown
}

interface Context {
  getType(): string
  switchToHttp(): { getRequest(): NestRequestPart; getResponse(): ResponsePart }
}

interface Values {
  subscribe(observer: { next(value: unknown): void; error(error: unknown): void; complete(): void }): unknown
}

/** An interceptor of Nest. */
export interface NestIdempotencyInterceptor {
  // biome-ignore lint/suspicious/noExplicitAny: the types of Nest are not needed here.
  intercept(context: any, next: any): Promise<any>
}

/**
 * An interceptor for requests with the header `Idempotency-Key`, on Express and on Fastify. The first POST or PATCH with a key
 * runs, and its result is stored before it is sent; the next ones with that key get the stored result. An HttpException below
 * 500, but for 429, is a result, too; other errors are not stored. Results are stored as JSON: a handler that returns a
 * StreamableFile or a Buffer is answered 500. Not for handlers that send their answer by `@Res()`: it is not stored.
 *
 * 400: no key where one is required, or a malformed one. 409: the first request is in progress. 422: the key was used for another
 * request: another method, URL or body.
 * @example
 * ```ts
 * import { idempotencyKey } from '@rlock/recipes/nest'
 * providers: [{ provide: APP_INTERCEPTOR, inject: [Redisson], useFactory: (redisson: Redisson) => idempotencyKey(redisson) }]
 * ```
 */
export function idempotencyKey(
  redisson: Redisson,
  options: IdempotencyKeyOptions<NestRequestPart> = {},
): NestIdempotencyInterceptor {
  const idempotency = new Idempotency<NestRequestPart>(
    redisson,
    options,
    ({ headers }) => headers.authorization,
  )
  return {
    async intercept(context: Context, next: { handle(): Values }): Promise<unknown> {
      if (context.getType() !== 'http') return next.handle()
      const http = context.switchToHttp()
      const [request, response] = [http.getRequest(), http.getResponse()]
      let result: { readonly value: unknown } | { readonly error: unknown } | undefined
      const handled = await idempotency.handleParsed(request, async () => {
        const before = { ...response.getHeaders() }
        result = await resultOf(next.handle())
        // With @Res() the handler has sent an answer by itself, which is not known here.
        if ((response.raw ?? response).headersSent) throw new Unstored(NOT_SEEN)
        const { status, value } =
          'error' in result ? answered(result.error) : { status: response.statusCode, ...result }
        return { status, headers: headersSince(before, response.getHeaders()), body: bytesOfJson(value) }
      })
      if (!handled) return next.handle()
      // Nest takes a list for an observable of its elements.
      if (!result) return [replayed(response, handled.answer)]
      if ('error' in result) throw result.error
      return [result.value]
    },
  }
}

const NOT_SEEN: Answer = { status: 200, headers: [], body: Buffer.alloc(0) }

/** The last value of an observable, or its error. */
function resultOf(values: Values): Promise<{ readonly value: unknown } | { readonly error: unknown }> {
  return new Promise((resolve) => {
    let value: unknown
    values.subscribe({
      next: (each) => {
        value = each
      },
      error: (error) => resolve({ error }),
      complete: () => resolve({ value }),
    })
  })
}

/** What Nest answers for an HttpException; throws any other error, which is not stored. */
function answered(error: unknown): { readonly status: number; readonly value: unknown } {
  const { getStatus, getResponse } = Object(error) as { getStatus?(): number; getResponse?(): unknown }
  if (typeof getStatus !== 'function' || typeof getResponse !== 'function') throw error
  const [status, response] = [getStatus.call(error), getResponse.call(error)]
  return {
    status,
    value: typeof response === 'object' ? response : { statusCode: status, message: response },
  }
}

function bytesOfJson(value: unknown): Buffer {
  const { getStream, pipe } = Object(value)
  const text = JSON.stringify(value)
  if (value instanceof Uint8Array || getStream || pipe || (value !== undefined && text === undefined))
    throw new TypeError(
      `The handler has returned a ${value?.constructor.name}. idempotencyKey() stores what JSON can hold: leave such routes out.`,
    )
  return Buffer.from(text ?? '')
}

function replayed(response: ResponsePart, { status, headers, body }: Answer): unknown {
  response.statusCode = status
  for (const [name, value] of headers) response.header(name, value)
  return body.length === 0 ? undefined : JSON.parse(body.toString())
}
