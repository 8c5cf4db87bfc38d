import { type Reply, Status } from './data/reply'

/** Text as the in-memory server keeps it: one character for each byte. */
export function toBytes(text: string | number): string {
  return Buffer.from(String(text), 'utf8').toString('latin1')
}

export function fromBytes(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

/** A reply as ioredis returns it. */
export function toReply(reply: Reply): unknown {
  if (typeof reply === 'string') return fromBytes(reply)
  if (reply instanceof Status) return reply.text
  return Array.isArray(reply) ? reply.map(toReply) : reply
}
