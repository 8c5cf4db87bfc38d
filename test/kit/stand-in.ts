import { inMemoryRedis } from '../../packages/testing/src/index'
import type { RedisSource } from '../../src/api/redis-source'
import { refuseUndeclaredKeys } from './declared-keys'
import { type InMemoryPort, openPort } from './in-memory-port'
import { type SharedServer, type Standalone, sharedStandalone, startStandalone } from './servers/index'

/** With RLOCK_TEST_IN_MEMORY=1 tests that ask here have no other server from the start. */
const ALWAYS = process.env.RLOCK_TEST_IN_MEMORY === '1'

let isInMemory = ALWAYS
let shared: InMemoryPort | undefined
const ports: InMemoryPort[] = []

/**
 * For a `describe`: its suites run on in-memory servers, to which their clients have no connection but one in memory. The
 * servers refuse keys that a script has not in KEYS.
 */
export function onInMemoryServers(): void {
  let expectDeclaredKeys: () => void
  before(() => {
    isInMemory = true
    expectDeclaredKeys = refuseUndeclaredKeys()
  })
  after(() => {
    isInMemory = ALWAYS
    shared = undefined
    for (const port of ports.splice(0)) port.close()
    expectDeclaredKeys()
  })
}

if (ALWAYS) {
  const expectDeclaredKeys = refuseUndeclaredKeys()
  process.once('exit', expectDeclaredKeys)
}

export const NO_USERS = 'it has no users'
export const NO_CLUSTER = 'it is a single server'
export const NO_DATABASES = 'it has one database'
export const NO_PROCESS = 'it has no process that could end'

/** For a test, or a hook before one, that needs what the in-memory server does not have. The report says the reason. */
export function skipInMemory(context: Mocha.Context, reason: string): void {
  if (!isInMemory) return
  const test = context.currentTest ?? context.test!
  test.title += ` (not in memory: ${reason})`
  context.skip()
}

/** A server that is the suite's alone. */
export async function startServer(): Promise<Standalone> {
  if (!isInMemory) return await startStandalone()
  const { host, port, url } = await open()
  const no = async () => {
    throw new Error('a server in memory has no process')
  }
  return {
    host,
    port,
    url,
    kill: no,
    pause: no,
    resume: no,
    restart: no,
    log: async () => '',
    stop: async () => {},
  }
}

/** A server that suites share. */
export async function defaultServer(): Promise<SharedServer> {
  if (!isInMemory) return await sharedStandalone()
  shared ??= await open()
  return shared
}

/** The in-memory server at this address, if there is one. */
export function inMemoryAt(source: RedisSource): RedisSource | undefined {
  return ports.find(({ url }) => url === source)?.redis
}

async function open(): Promise<InMemoryPort> {
  const port = await openPort(inMemoryRedis())
  ports.push(port)
  return port
}
