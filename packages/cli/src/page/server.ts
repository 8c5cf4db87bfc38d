import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'

const LONGEST_BODY = 200_000
const EVERY = 1_000

export interface PageSource {
  /** What the page shows, as JSON. */
  read(): Promise<unknown>
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
  const html = readFileSync(join(__dirname, 'page.html'), 'utf8')
  const policy = policyOf(html)
  const streams = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(policy)) response.setHeader(name, value)
    answer(request, response).catch(() => end(response, 500, 'an error'))
  })
  await new Promise<void>((ready, failed) => {
    server.once('error', failed)
    server.listen(port, '127.0.0.1', ready)
  })
  const own = (server.address() as { port: number }).port
  const hosts = [`127.0.0.1:${own}`, `localhost:${own}`]
  // One read serves every browser.
  let last = ''
  const send = async () => {
    if (streams.size === 0) return
    last = `data: ${JSON.stringify(await source.read())}\n\n`
    // A browser that does not read gets no more until it has read.
    for (const stream of streams) if (!stream.writableNeedDrain) stream.write(last)
  }
  let sending: Promise<void> = Promise.resolve()
  const next = () => {
    sending = sending.then(send).catch(() => {})
  }
  const timer = setInterval(next, EVERY)

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
      response.setHeader('content-type', 'text/event-stream')
      response.writeHead(200)
      streams.add(response)
      response.on('close', () => streams.delete(response))
      return next()
    }
    if (request.method === 'POST' && path === '/unlock') {
      if (!source.unlock) return end(response, 403, 'this page is read-only: see rlock page --allow-unlock')
      const { name, owner } = Object(JSON.parse(await body(request)))
      if (typeof name !== 'string' || typeof owner !== 'string')
        return end(response, 400, 'a name and an owner')
      return end(response, 200, await source.unlock(name, owner))
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
      clearInterval(timer)
      for (const stream of streams) stream.end()
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
      await sending
    },
  }
}

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

/** The page may run its own script and style, and talk to this server; nothing else. */
function policyOf(html: string): Record<string, string> {
  const hash = (tag: string) => {
    const [, content = ''] = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(html) ?? []
    return `'sha256-${createHash('sha256').update(content).digest('base64')}'`
  }
  return {
    'content-security-policy':
      `default-src 'none'; script-src ${hash('script')}; style-src ${hash('style')}; connect-src 'self'; ` +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'cross-origin-resource-policy': 'same-origin',
  }
}
