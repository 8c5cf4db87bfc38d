import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Feed, type PageEvent } from './feed'
import { pageHtml, policyOf } from './html'
import type { View } from './view'

const LONGEST_BODY = 1_000
/** The pause between two looks in ms; after a long look a multiple of it, so that the server of the locks has its peace. */
const EVERY = 1_000
const PAUSE = 4
/** More browsers than that belong to no person. */
const MOST_STREAMS = 20

/** What the page says of the whole, beside its rows. */
export interface Facts {
  readonly deadlocks: readonly string[]
  /** What the user may not see. */
  readonly unseen: readonly string[]
}

export interface PageSource {
  read(): Promise<View & Facts>
  /** Frees a hold; absent: the page is read-only. */
  readonly unlock: ((name: string, owner: string) => Promise<string>) | undefined
}

export interface Page {
  /** With the token in its fragment, which no browser sends. */
  readonly address: string
  close(): Promise<void>
}

/** Serves the page on this machine only. Every request needs the token, but for the page itself, which has no data. */
export async function servePage(port: number, source: PageSource): Promise<Page> {
  const token = randomBytes(32).toString('base64url')
  const html = pageHtml()
  const policy = policyOf(html)
  /** Whether each has got all rows. */
  const streams = new Map<ServerResponse, boolean>()
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(policy)) response.setHeader(name, value)
    answer(request, response).catch(() => end(response, 500, 'an error'))
  })
  await new Promise<void>((ready, failed) => {
    server.once('error', failed)
    server.listen(port, '127.0.0.1', ready)
  })
  const own = (server.address() as { port: number }).port
  // A browser leaves out the port 80.
  const hosts = ['127.0.0.1', 'localhost'].flatMap((host) =>
    own === 80 ? [host, `${host}:80`] : `${host}:${own}`,
  )
  const feed = new Feed()
  let holds: View['holds'] = new Map()
  let pause = new AbortController()
  let isClosed = false

  /** One look serves every browser. */
  async function look(): Promise<void> {
    const { rows, holds: now, ...facts } = await source.read()
    holds = now
    const time = Date.now()
    const changes = feed.take(rows, time)
    const about = { ...facts, mayUnlock: source.unlock !== undefined }
    for (const [stream, isComplete] of streams) {
      // A browser that does not read gets no more until it has read, and then all rows anew.
      const isBehind = stream.writableNeedDrain
      streams.set(stream, !isBehind)
      if (!isBehind) for (const event of isComplete ? changes : feed.all(time)) send(stream, event, about)
    }
  }

  async function lookOn(): Promise<void> {
    while (!isClosed) {
      const began = performance.now()
      try {
        if (streams.size > 0) await look()
      } catch (error) {
        for (const stream of streams.keys()) write(stream, { error: (error as Error).message })
      }
      const rest = Math.max(EVERY, PAUSE * (performance.now() - began))
      pause = new AbortController()
      await sleep(rest, undefined, { signal: pause.signal }).catch(() => {})
    }
  }
  const looking = lookOn()

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host = '', origin, authorization = '' } = request.headers
    // Another name for this machine is a page elsewhere that had its name resolved to it.
    if (!hosts.includes(host)) return end(response, 403, 'the host is not this machine')
    if (origin !== undefined && !hosts.some((each) => origin === `http://${each}`))
      return end(response, 403, 'a page of another origin')
    const path = request.url ?? ''
    if (request.method === 'GET' && path === '/') {
      response.setHeader('content-type', 'text/html; charset=utf-8')
      return end(response, 200, html)
    }
    if (!isToken(authorization)) return end(response, 401, 'the token is not valid')
    if (request.method === 'GET' && path === '/events') {
      if (streams.size >= MOST_STREAMS) return end(response, 503, 'too many browsers')
      response.setHeader('content-type', 'text/event-stream')
      response.writeHead(200)
      streams.set(response, false)
      response.on('close', () => streams.delete(response))
      return pause.abort()
    }
    if (request.method === 'POST' && path === '/unlock') {
      if (!source.unlock) return end(response, 403, 'this page is read-only: see rlock page --allow-unlock')
      const hold = holds.get(await body(request))
      if (!hold) return end(response, 200, 'held by another, or free, by now')
      const result = await source.unlock(hold.name, hold.owner)
      pause.abort()
      return end(response, 200, result)
    }
    end(response, 404, 'not found')
  }

  function isToken(header: string): boolean {
    const given = createHash('sha256').update(header).digest()
    return timingSafeEqual(given, createHash('sha256').update(`Bearer ${token}`).digest())
  }

  return {
    address: `http://127.0.0.1:${own}/#${token}`,
    async close() {
      isClosed = true
      pause.abort()
      for (const stream of streams.keys()) stream.end()
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
      await looking
    },
  }
}

const send = (stream: ServerResponse, event: PageEvent, facts: object) =>
  write(stream, event.done ? { ...event, ...facts } : event)

const write = (stream: ServerResponse, data: object) => stream.write(`data: ${JSON.stringify(data)}\n\n`)

function end(response: ServerResponse, status: number, text: string): void {
  if (!response.headersSent) response.writeHead(status)
  response.end(text)
}

async function body(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of request) {
    length += part.length
    if (length > LONGEST_BODY) throw new Error('too long')
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}
