import { once } from 'node:events'
import { createServer } from 'node:net'

// Not port 0: the kernel would answer from the range it also takes for outgoing connections (from 32768
// on Linux). While a server of ours is down, a client that keeps reconnecting to such a port can be given
// that very port as its own, connect to itself and keep the server from coming back. So we draw from
// below that range, low enough that a cluster bus, always 10000 higher, stays below it as well.
const LOWEST = 10_000
const HIGHEST = 22_767
const CLUSTER_BUS_OFFSET = 10_000

// Processes draw from blocks of their own as long as those last: a port whose server is down for a while, or
// whose proxy refuses, must not be given to a neighbour meanwhile.
const BLOCKS = 12
const BLOCK_SIZE = Math.floor((HIGHEST - LOWEST + 1) / BLOCKS)
const MOST_WORKERS = 6
const { MOCHA_WORKER_ID } = process.env
/** The processes of one parallel run are apart for sure, other processes most likely. */
const OWN =
  MOCHA_WORKER_ID === undefined ? process.pid : process.ppid * MOST_WORKERS + Number(MOCHA_WORKER_ID)
const BLOCK = LOWEST + (OWN % BLOCKS) * BLOCK_SIZE
const TRIES_IN_BLOCK = 200

const handedOut = new Set<number>()

/** To be said when nothing will listen there any more. */
export function giveBackPort(port: number): void {
  handedOut.delete(port)
}

/** Ports on which no process listens, nor on the cluster bus port of each; never the same twice in a process unless giveBackPort() returns it. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  for (let tries = 0; ports.length < count; tries++) {
    if (tries === 1000) throw new Error(`Found no ${count} free ports between ${LOWEST} and ${HIGHEST}`)
    const [from, size] = tries < TRIES_IN_BLOCK ? [BLOCK, BLOCK_SIZE] : [LOWEST, HIGHEST - LOWEST + 1]
    const port = from + Math.floor(Math.random() * size)
    if (handedOut.has(port)) continue
    if (!(await isFree(port)) || !(await isFree(port + CLUSTER_BUS_OFFSET))) continue
    handedOut.add(port)
    ports.push(port)
  }
  return ports
}

/**
 * Runs `start` on free ports, and again on others when somebody else took one between our look and the
 * server's own listening.
 */
export async function onFreePorts<T>(count: number, start: (ports: number[]) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePorts(count))
    } catch (failure) {
      if (attempt === 5 || !saysPortIsTaken(failure)) throw failure
    }
  }
}

/** Understands Node's EADDRINUSE, the log of a Redis server and the refusal of a container engine. */
function saysPortIsTaken(failure: unknown): boolean {
  return /EADDRINUSE|address already in use|port is already allocated/i.test(String(failure))
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer()
  try {
    probe.listen({ host: '127.0.0.1', port, exclusive: true })
    await once(probe, 'listening')
    return true
  } catch {
    return false
  } finally {
    probe.close()
  }
}
