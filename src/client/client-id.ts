import { randomHex } from '../util/random'

/**
 * The id of a new client: a random UUID of version 8 ("custom", RFC 9562). The ids of Java clients are of
 * version 4. So an owner field shows to scripts and to people which library the owner uses.
 */
export function newClientId(): string {
  return randomHex(16).replace(/(.{8})(.{4}).(.{3}).(.{3})(.{12})/, '$1-$2-8$3-8$4-$5')
}
