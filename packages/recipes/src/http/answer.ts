import type { Codec } from '@rlock/recipes'

/** An answer of HTTP. */
export interface Answer {
  readonly status: number
  /** Those that the handler has set. */
  readonly headers: readonly (readonly [name: string, value: string | string[]])[]
  readonly body: Buffer
}

export type Headers = Readonly<Record<string, number | string | string[] | undefined>>

/** These belong to one connection. */
const OF_CONNECTION = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding'])

export const ANSWERS: Codec<Answer> = {
  encode: ({ status, headers, body }) => JSON.stringify([status, headers, body.toString('base64')]),
  decode(text) {
    const [status, headers, body] = JSON.parse(text)
    return { status, headers, body: Buffer.from(body, 'base64') }
  },
}

/** What a handler has set: all headers, but for those that were there before. */
export function headersSince(before: Headers, after: Headers): Answer['headers'] {
  return Object.entries(after).flatMap(([name, value]) => {
    if (value === undefined || value === before[name] || OF_CONNECTION.has(name.toLowerCase())) return []
    return [[name, typeof value === 'number' ? String(value) : value] as const]
  })
}

/** An answer of this package: RFC 9457. */
export function problem(status: 400 | 409 | 422, title: string, detail: string): Answer {
  return {
    status,
    headers: [['content-type', 'application/problem+json']],
    body: Buffer.from(JSON.stringify({ title, status, detail })),
  }
}

/** What a handler has answered, in any form in which a framework has it. */
export async function bytesOf(payload: unknown): Promise<Buffer> {
  if (payload === undefined || payload === null) return Buffer.alloc(0)
  if (typeof payload === 'string') return Buffer.from(payload)
  if (payload instanceof Uint8Array) return Buffer.from(payload)
  const parts: Buffer[] = []
  for await (const part of payload as AsyncIterable<Uint8Array | string>)
    parts.push(Buffer.from(part as string))
  return Buffer.concat(parts)
}
