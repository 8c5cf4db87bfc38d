import { type Reply, Status } from './data/keyspace'

/** Text as the in-memory server keeps it: one character for each byte. */
export function toBytes(text: string | number): string {
  if (typeof text === 'string' && isAscii(text)) return text
  return Buffer.from(String(text), 'utf8').toString('latin1')
}

export function fromBytes(bytes: string): string {
  if (isAscii(bytes)) return bytes
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

/** A reply as ioredis returns it. */
export function toReply(reply: Reply): unknown {
  if (typeof reply === 'string') return fromBytes(reply)
  if (reply instanceof Status) return reply.text
  return Array.isArray(reply) ? reply.map(toReply) : reply
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false
  return true
}
