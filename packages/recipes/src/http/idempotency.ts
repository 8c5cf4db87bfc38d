import { createHash } from 'node:crypto'
import { InFlightError, KeyReusedError, once } from '@rlock/recipes'
import { Redisson, RedisUnavailableError } from 'rlock'
import { argumentsReader, checkOptions, positive } from 'rlock/internal'
import { ANSWERS, type Answer, problem } from './answer'
import { type ParsedRequest, parsedBody } from './parsed-request'
import { StoreUnavailable } from './store-unavailable'

/** Options of `idempotencyKey()`. */
export interface IdempotencyKeyOptions<Request> {
  /**
   * For how long an answer is stored, in ms.
   * @default 86_400_000, a day
   */
  keep?: number | undefined
  /**
   * Whether a request without the header is answered 400. Otherwise it passes.
   * @default false
   */
  required?: boolean | undefined
  /**
   * How long a request waits for the first one with its key, in ms, before it is answered 409.
   * @default 0
   */
  waitTime?: number | undefined
  /**
   * Whose keys these are: the id of the user, for example. Two users may send the same key.
   * @default the header Authorization
   */
  scope?: ((request: Request) => string) | undefined
}

/** The part of a request that matters here. */
export interface Asked {
  readonly method: string | undefined
  readonly url: string | undefined
  /** The header Idempotency-Key. */
  readonly header: string | readonly string[] | undefined
  /** Asked for only where there is a key. */
  body(): unknown
  readonly scope: string
}

/** `first`: the handler ran for this request, and this is its answer. */
export interface Handled {
  readonly first: boolean
  readonly answer: Answer
}

/** An answer that is not stored, so that the request can be tried again. */
export class Unstored {
  constructor(readonly answer: Answer) {}
}

const readWait = argumentsReader<{ waitTime?: number | undefined }>(['waitTime'])

const DAY = 86_400_000
const LONGEST_KEY = 255
/** A string of RFC 8941, as the draft says, or the key without its quotes. */
const KEY = /^(?:"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])+)"|([\x21\x23-\x7e][\x21-\x7e]*))$/

const MISSING = problem(
  400,
  'Idempotency-Key is missing',
  'This operation needs the header Idempotency-Key: a new key for each new request.',
)
const MALFORMED = problem(
  400,
  'Idempotency-Key is malformed',
  `The header must have one key of 1 to ${LONGEST_KEY} visible ASCII characters.`,
)
const IN_FLIGHT = problem(
  409,
  'A request with this Idempotency-Key is in progress',
  'Send the same request again later: it gets the answer of the first one.',
)
const REUSED = problem(
  422,
  'Idempotency-Key was used before',
  'The key was sent before with another request. Use a new key for a new request.',
)

/** The draft standard of the header Idempotency-Key, for POST and PATCH. */
export class Idempotency<Request> {
  private readonly keep: number
  private readonly waitTime: number

  constructor(
    private readonly redisson: Redisson,
    private readonly options: IdempotencyKeyOptions<Request>,
    private readonly authorization: (request: Request) => unknown,
  ) {
    // Here rather than with the first request: a service must not start with them.
    if (!(redisson instanceof Redisson))
      throw new TypeError('the first argument must be a client of Redisson.create()')
    checkOptions(options, ['keep', 'required', 'waitTime', 'scope'])
    const { keep = DAY, required = false, waitTime = 0, scope } = options
    if (typeof required !== 'boolean') throw new TypeError('required must be a boolean')
    if (scope !== undefined && typeof scope !== 'function') throw new TypeError('scope must be a function')
    this.keep = positive('keep', keep)
    this.waitTime = readWait({ waitTime }).waitTime ?? 0
  }

  scopeOf(request: Request): string {
    const { scope } = this.options
    return scope ? scope(request) : String(this.authorization(request) ?? '')
  }

  /** `handle()`, for a request with a body that is parsed. */
  async handleParsed(
    request: Request & ParsedRequest,
    run: () => Promise<Answer>,
  ): Promise<Handled | undefined> {
    const { method, originalUrl: url = request.url, headers } = request
    const scope = this.scopeOf(request)
    return await this.handle(
      { method, url, header: headers['idempotency-key'], body: () => parsedBody(request), scope },
      run,
    )
  }

  /** Runs the handler, or says with what the request is answered in its place. Undefined: the request passes. */
  async handle(asked: Asked, run: () => Promise<Answer>): Promise<Handled | undefined> {
    const { method, url, header, body, scope } = asked
    if (method !== 'POST' && method !== 'PATCH') return undefined
    if (header === undefined) return this.options.required ? { first: false, answer: MISSING } : undefined
    const [, quoted, bare] = KEY.exec(String(header)) ?? []
    const key = quoted ?? bare
    if (key === undefined || key.length > LONGEST_KEY) return { first: false, answer: MALFORMED }
    const { redisson, keep, waitTime } = this
    const fingerprint = hash(method, url ?? '', textOf(body()))
    const options = { keep, waitTime, fingerprint, codec: ANSWERS }
    let ofHandler: unknown
    const running = () =>
      stored(run).catch((error) => {
        ofHandler = error
        throw error
      })
    try {
      const { first, value } = await once(redisson, `http:${hash(scope, key)}`, running, options)
      return { first, answer: value }
    } catch (error) {
      if (error instanceof Unstored) return { first: true, answer: error.answer }
      if (error === ofHandler) throw error
      if (error instanceof InFlightError) return { first: false, answer: IN_FLIGHT }
      if (error instanceof KeyReusedError) return { first: false, answer: REUSED }
      if (error instanceof RedisUnavailableError) throw new StoreUnavailable(error)
      throw error
    }
  }
}

/** A fault of the server, or a rate limit, may be gone with the next try. */
async function stored(run: () => Promise<Answer>): Promise<Answer> {
  const answer = await run()
  if (answer.status >= 500 || answer.status === 429) throw new Unstored(answer)
  return answer
}

function hash(...parts: (string | Uint8Array)[]): string {
  const digest = createHash('sha256')
  // The length keeps two lists apart that have the same letters.
  for (const part of parts) digest.update(`${part.length}:`).update(part)
  return digest.digest('hex')
}

function textOf(body: unknown): string | Uint8Array {
  if (typeof body === 'string' || body instanceof Uint8Array) return body
  return JSON.stringify(body) ?? ''
}
