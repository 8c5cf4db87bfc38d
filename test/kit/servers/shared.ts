import type { Address } from './address'
import { type ClusterSetup, startCluster } from './cluster'
import { findServer } from './find-server'
import { type SentinelSetup, startSentinel } from './sentinel'
import { startStandalone } from './standalone'

/**
 * A server that many tests use at once, and that may not even be ours: use names of your own, and leave
 * its configuration and other keys alone. To stop or flush one, start your own by startStandalone().
 */
export interface SharedServer extends Address {
  readonly url: string
}

interface Stoppable {
  stop(): Promise<void>
}

let started: Promise<Stoppable>[] = []
let standalone: Promise<SharedServer> | undefined
let sentinel: Promise<SentinelSetup> | undefined
let cluster: Promise<ClusterSetup> | undefined

// Each is started by the first test that asks, and stopped after the last test of the process.

export function sharedStandalone(): Promise<SharedServer> {
  standalone ??= findServer().then((found) =>
    found.kind === 'address' ? atUrl(found.url) : stoppedLater(startStandalone()),
  )
  return standalone
}

/** Tests may fail it over, if they leave three living nodes and one primary behind. */
export function sharedSentinel(): Promise<SentinelSetup> {
  sentinel ??= stoppedLater(startSentinel())
  return sentinel
}

/** Tests may move slots in it. It has no replicas; for failovers start your own. */
export function sharedCluster(): Promise<ClusterSetup> {
  cluster ??= stoppedLater(startCluster())
  return cluster
}

export async function stopShared(): Promise<void> {
  const stopping = started
  started = []
  standalone = sentinel = cluster = undefined
  // A start that failed has left nothing, and the test that asked for it has reported why.
  const setups = await Promise.allSettled(stopping)
  await Promise.all(setups.map((setup) => (setup.status === 'fulfilled' ? setup.value.stop() : undefined)))
}

function atUrl(url: string): SharedServer {
  const { hostname, port } = new URL(url)
  return { url, host: hostname, port: Number(port || 6379) }
}

function stoppedLater<T extends Stoppable>(starting: Promise<T>): Promise<T> {
  started.push(starting)
  return starting
}
