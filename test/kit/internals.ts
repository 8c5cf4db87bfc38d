import type { Client } from '../../src/client/client'
import type { Redisson } from '../../src/index'

/** The client beneath. */
export function internalsOf(redisson: Redisson): Client {
  return (redisson as unknown as { readonly client: Client }).client
}
