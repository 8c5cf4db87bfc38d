import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { type Answer, headersSince } from './answer'
import { FirstAnswer } from './first-answer'

const METHODS = ['write', 'end', 'writeHead', 'flushHeaders'] as const

/** What `write` and `end` take: a part, its encoding, a callback; each may be left out. */
type Written = readonly unknown[]

/** A response whose answer is held back until it is stored. */
export class HeldResponse {
  private readonly first: FirstAnswer
  private readonly before: OutgoingHttpHeaders
  private readonly parts: Buffer[] = []
  /** The methods of the response itself: those of a middleware before this one. */
  private readonly own: Partial<ServerResponse>

  constructor(private readonly response: ServerResponse) {
    this.first = new FirstAnswer(response)
    this.before = { ...response.getHeaders() }
    this.own = Object.fromEntries(
      METHODS.filter((name) => Object.hasOwn(response, name)).map((name) => [name, response[name]]),
    )
    Object.assign(response, {
      write: (...args: Written) => {
        this.add(args)
        return true
      },
      end: (...args: Written) => {
        this.add(args)
        const headers = headersSince(this.before, response.getHeaders())
        this.first.give({ status: response.statusCode, headers, body: Buffer.concat(this.parts) })
        return response
      },
      writeHead: (status: number, ...more: unknown[]) => {
        response.statusCode = status
        setHeaders(response, more.at(-1))
        return response
      },
      flushHeaders: () => {},
    })
  }

  get answer(): Promise<Answer> {
    return this.first.answer
  }

  /** Sends what was held back. */
  send(): void {
    this.letGo()
    this.response.end(Buffer.concat(this.parts))
  }

  /** What was held back is not sent, and its headers are gone. */
  discard(): void {
    this.letGo()
    const { response, before } = this
    response.statusCode = 200
    for (const name of response.getHeaderNames()) if (!(name in before)) response.removeHeader(name)
  }

  private letGo() {
    for (const name of METHODS) delete (this.response as Partial<ServerResponse>)[name]
    Object.assign(this.response, this.own)
  }

  private add(args: Written) {
    const [part, encoding] = args
    if (typeof part === 'string')
      this.parts.push(Buffer.from(part, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8'))
    else if (part instanceof Uint8Array) this.parts.push(Buffer.from(part))
    const callback = args.findLast((each) => typeof each === 'function')
    if (callback) queueMicrotask(callback as () => void)
  }
}

/** `headers`: as `writeHead` takes them, an object or a flat list. */
function setHeaders(response: ServerResponse, headers: unknown) {
  if (Array.isArray(headers))
    for (let at = 0; at + 1 < headers.length; at += 2) response.setHeader(headers[at], headers[at + 1])
  else if (typeof headers === 'object' && headers !== null)
    for (const [name, value] of Object.entries(headers))
      if (value !== undefined) response.setHeader(name, value)
}
