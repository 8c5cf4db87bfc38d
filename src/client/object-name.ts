import { describe } from '../api/arguments'
import { sharesSlotWithCompanions } from '../scripts/key-names'
import { quote } from '../util/quote'
import type { Client } from './client'

/** In a template string, a missing part becomes the word `undefined`. */
const MISSING = /(?<![\p{L}\p{N}_])undefined(?![\p{L}\p{N}_])|\[object \w+\]/u

/** The key of an object of this name. Throws TypeError for a name that cannot be one. */
export function keyOf(client: Client, name: string): string {
  if (typeof name !== 'string')
    throw new TypeError(`the name of a lock, semaphore or latch must be a string, got ${describe(name)}`)
  if (name === '') throw new TypeError('the name of a lock, semaphore or latch must not be empty')
  if (!name.isWellFormed())
    throw new TypeError(
      `the name ${quote(name)} is not well-formed Unicode: it contains half of a character. Redis would ` +
        'store another name, which other malformed names share. Cut names by characters, not by length',
    )
  if (MISSING.test(name))
    throw new TypeError(
      `the name ${quote(name)} cannot be used: a part of it is missing, or is an object, so that different ` +
        'names would be one',
    )
  const key = client.options.mapName(name)
  if (client.connections.isCluster && !sharesSlotWithCompanions(key))
    throw new TypeError(
      `the name ${quote(name)} cannot be used in a cluster: because of its braces its key and its ` +
        'channel fall into different slots (Java fails there with CROSSSLOT). Use balanced braces, or none',
    )
  return key
}
