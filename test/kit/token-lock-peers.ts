import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { Redis } from 'ioredis'
import { endWithThisProcess } from './servers/left-behind'
import { redisPyPath, redsyncPeer } from './token-peer-builds'

/** What a peer holds. Releasing and extending reject where it holds no more. */
export interface PeerHold {
  release(): Promise<unknown>
  extend?(lease: number): Promise<unknown>
}

/** A client of another library. */
export interface TokenPeer {
  /** Waits as that library does. */
  acquire(key: string, lease: number): Promise<PeerHold>
  /** One try. */
  tryAcquire(key: string, lease: number): Promise<PeerHold | undefined>
  close(): Promise<void> | void
}

/** A library that locks with SET NX PX. */
export interface TokenLibrary {
  readonly name: string
  /** What it puts before its keys. */
  readonly prefix: string
  /** Why it cannot take part here; nothing where it can. */
  absent?(): Promise<string | undefined>
  open(url: string): Promise<TokenPeer>
}

interface Redlock4 {
  lock(
    key: string,
    lease: number,
  ): Promise<{ unlock(): Promise<unknown>; extend(lease: number): Promise<unknown> }>
}
interface Redlock5 {
  acquire(
    keys: string[],
    lease: number,
    settings: object,
  ): Promise<{ release(): Promise<unknown>; extend(lease: number): Promise<unknown> }>
  on(event: 'error', listener: () => void): void
}
interface Mutex {
  acquire(): Promise<void>
  tryAcquire(): Promise<boolean>
  release(): Promise<void>
}

/** By name: their types need packages that are not installed here, or there are none. */
const load = (name: string) => require(name)

const RETRY_FOR_LONG = { retryCount: 1_000, retryDelay: 20, retryJitter: 10 }

const redlock4: TokenLibrary = {
  name: 'redlock 4',
  prefix: '',
  async open(url) {
    const client = new Redis(url)
    const of = (settings: object): Redlock4 => new (load('redlock4'))([client], settings)
    const [patient, once] = [of(RETRY_FOR_LONG), of({ retryCount: 0 })]
    const take = async (redlock: Redlock4, key: string, lease: number) => {
      const lock = await redlock.lock(key, lease)
      return { release: () => lock.unlock(), extend: (more: number) => lock.extend(more) }
    }
    return {
      acquire: (key, lease) => take(patient, key, lease),
      tryAcquire: (key, lease) => take(once, key, lease).catch(refused),
      close: () => client.disconnect(),
    }
  },
}

const redlock5: TokenLibrary = {
  name: 'redlock 5',
  prefix: '',
  async open(url) {
    const client = new Redis(url)
    const redlock: Redlock5 = new (load('redlock5').default)([client], { retryCount: 0 })
    redlock.on('error', () => {})
    const take = async (key: string, lease: number, settings: object) => {
      const lock = await redlock.acquire([key], lease, settings)
      return { release: () => lock.release(), extend: (more: number) => lock.extend(more) }
    }
    return {
      acquire: (key, lease) => take(key, lease, RETRY_FOR_LONG),
      tryAcquire: (key, lease) => take(key, lease, { retryCount: 0 }).catch(refused),
      close: () => client.disconnect(),
    }
  },
}

const redisSemaphore: TokenLibrary = {
  name: 'redis-semaphore',
  prefix: 'mutex:',
  async open(url) {
    const client = new Redis(url)
    const of = (key: string, lockTimeout: number, settings = {}): Mutex =>
      new (load('redis-semaphore').Mutex)(client, key, {
        lockTimeout,
        refreshInterval: 0,
        acquireTimeout: 30_000,
        retryInterval: 10,
        ...settings,
      })
    return {
      async acquire(key, lease) {
        const mutex = of(key, lease)
        await mutex.acquire()
        return mutex
      },
      async tryAcquire(key, lease) {
        const mutex = of(key, lease, { acquireAttemptsLimit: 1 })
        return (await mutex.tryAcquire()) ? mutex : undefined
      },
      close: () => client.disconnect(),
    }
  },
}

function refused(error: Error): undefined {
  if (!/lock|quorum/i.test(error.message)) throw error
}

/** Takes commands by line: an id, an operation, a key or the id of what is held, and a lease in s. */
const PROGRAM = `
import sys, redis, threading
from redis.lock import Lock
client = redis.Redis.from_url(sys.argv[1])
held = {}
guard = threading.Lock()
def answer(*words):
  with guard:
    print(*words, flush=True)
def work(id, op, key, lease):
  try:
    if op == 'release':
      held.pop(key).release()
      return answer(id, 'ok')
    if op == 'extend':
      held[key].extend(float(lease), replace_ttl=True)
      return answer(id, 'ok')
    lock = Lock(client, key, timeout=float(lease), sleep=0.02, thread_local=False)
    got = lock.acquire(blocking=op == 'lock')
    if got:
      held[id] = lock
    answer(id, 'yes' if got else 'no')
  except Exception as error:
    answer(id, 'error', type(error).__name__)
for line in sys.stdin:
  threading.Thread(target=work, args=line.split(), daemon=True).start()
`

/** A process of another language, which takes commands by line and answers each by its id. */
function peerProcess(command: string, args: readonly string[], environment = {}): TokenPeer {
  const child: ChildProcess = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  })
  endWithThisProcess(child)
  const waiting = new Map<string, (words: string[]) => void>()
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const [id = '', ...words] = line.split(' ')
    waiting.get(id)?.(words)
    waiting.delete(id)
  })
  let last = 0
  const ask = async (op: string, key: string, lease: number) => {
    const id = String(++last)
    const answered = new Promise<string[]>((resolve) => waiting.set(id, resolve))
    child.stdin!.write(`${id} ${op} ${key} ${lease / 1_000}\n`)
    const [word, error] = await answered
    if (word === 'error') throw new Error(error)
    return { id, word }
  }
  const take = async (op: string, key: string, lease: number) => {
    const { id, word } = await ask(op, key, lease)
    if (word !== 'yes') return undefined
    return { release: () => ask('release', id, 0), extend: (more: number) => ask('extend', id, more) }
  }
  return {
    acquire: async (key, lease) => (await take('lock', key, lease))!,
    tryAcquire: (key, lease) => take('try', key, lease),
    close: () => void child.kill('SIGKILL'),
  }
}

const cannotBeBuilt = (error: Error) => error.message.trim().split('\n').at(-1)

const redisPy: TokenLibrary = {
  name: 'redis-py',
  prefix: '',
  absent: () => redisPyPath().then(() => undefined, cannotBeBuilt),
  open: async (url) => peerProcess('python3', ['-c', PROGRAM, url], { PYTHONPATH: await redisPyPath() }),
}

const redsync: TokenLibrary = {
  name: 'redsync',
  prefix: '',
  absent: () => redsyncPeer().then(() => undefined, cannotBeBuilt),
  open: async (url) => peerProcess(await redsyncPeer(), [url]),
}

export const TOKEN_LIBRARIES: readonly TokenLibrary[] = [redlock4, redlock5, redisSemaphore, redisPy, redsync]
