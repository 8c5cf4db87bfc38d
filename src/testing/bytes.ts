import { type Reply, Status } from './data/reply'

/** Inside the server strings have a character for each byte. */
export function toBytes(text: string | number): string {
  return Buffer.from(String(text), 'utf8').toString('latin1')
}

export function fromBytes(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

/** A reply as ioredis gives it. */
export function toReply(reply: Reply): unknown {
  if (typeof reply === 'string') return fromBytes(reply)
  if (reply instanceof Status) return reply.text
  return Array.isArray(reply) ? reply.map(toReply) : reply
}
