import { randomUUID } from 'node:crypto'

/**
 * The id of a new client: a random UUID like Java's, but of version 8 ("custom", RFC 9562) where Java's are of version 4.
 * So scripts and people can tell by an owner field of which library the owner is.
 */
export function newClientId(): string {
  const id = randomUUID()
  return `${id.slice(0, 14)}8${id.slice(15)}`
}
