/** Redis cannot be reached. Express, Fastify and Nest answer with its status and message, and Hono with its response. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
  readonly status = 503
  readonly statusCode = 503

  /** `cause`: it names the client and the server, which are not for the client of HTTP. */
  constructor(cause: unknown) {
    super('The store of Idempotency-Key cannot be reached. Send the same request again later.', { cause })
  }

  getResponse(): Response {
    return new Response(this.message, { status: this.status })
  }
}
