import { randomUuid } from '../util/random'

/**
 * The id of a new client: a random UUID of version 8 ("custom", RFC 9562). The ids of Java clients are of version 4. So an
 * owner field shows to scripts and to people which library the owner uses.
 */
export function newClientId(): string {
  const id = randomUuid()
  return `${id.slice(0, 14)}8${id.slice(15)}`
}
