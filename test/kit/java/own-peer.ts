import { own } from '../servers/own-server'
import { type JavaPeer, type JavaPeerOptions, startJavaPeer } from './peer'

/** For a `describe`: a Java peer on a server that is there before it. */
export function ownJavaPeer(
  server: { readonly url: string },
  options: Omit<JavaPeerOptions, 'redis'> = {},
): JavaPeer {
  return own(
    () => startJavaPeer({ ...options, redis: server.url }),
    (peer) => peer.kill(),
  )()
}
