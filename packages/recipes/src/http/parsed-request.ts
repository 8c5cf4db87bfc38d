import type { IncomingHttpHeaders } from 'node:http'

/** The part of a request of Express, Fastify or Nest that matters here. */
export interface ParsedRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** Where a router has shortened `url`. */
  readonly originalUrl?: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body?: unknown
  /** Whether something has read from it. */
  readonly readableDidRead?: boolean
  /** That of Node, in one of Fastify. */
  readonly raw?: { readonly readableDidRead?: boolean }
}

/** The body as a parser has left it. Throws where none has read it: two such bodies look the same. */
export function parsedBody(request: ParsedRequest): unknown {
  const { headers, body, raw = request } = request
  const isSent = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  const { pipe, getReader } = Object(body)
  // The body-parser of Express 4 leaves {} where it has read nothing.
  const isUnread = raw.readableDidRead === false && Object.keys(Object(body)).length === 0
  if (isSent && (body === undefined || isUnread || pipe || getReader))
    throw new TypeError(
      'The body of this request is not parsed, so idempotencyKey() cannot compare it. Put idempotencyKey() behind the parser, such ' +
        `as express.json(), and give a parser for ${headers['content-type'] ?? 'requests without a content-type'}.`,
    )
  return body
}
