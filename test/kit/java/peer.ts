import { buildPeer } from './build'
import { type RedissonSettings, redissonSettings } from './config'
import { JvmProcess, type LogLevel } from './jvm'
import type { ContendOptions, ContentionReport, Fields, JavaMethod } from './protocol'
import { JavaThread } from './thread'
import { REDISSON_VERSIONS } from './versions'

const START_TIMEOUT_MS = 30_000

export interface JavaPeerOptions {
  /** Where Redis is: a URL for a single server, else Redisson's settings. */
  redis: string | RedissonSettings
  /** More of Redisson's settings, for use beside a URL. */
  settings?: Partial<RedissonSettings> | undefined
  /** Redisson's version; the newest unless said otherwise. */
  version?: string | undefined
  /** Who this peer is in the logs of `contend`. */
  name?: string | undefined
  /** Redisson's own log, to stderr. Off unless said otherwise. */
  logLevel?: LogLevel | undefined
  jvmFlags?: readonly string[] | undefined
}

/** Starts a Java process with a real Redisson client, building it first where needed. */
export async function startJavaPeer(options: JavaPeerOptions): Promise<JavaPeer> {
  const { classpath } = await buildPeer(options.version ?? REDISSON_VERSIONS.newest)
  const name = options.name ?? 'java'
  const jvm = new JvmProcess({
    classpath,
    config: { name, ...redissonSettings(options.redis), ...options.settings },
    logLevel: options.logLevel ?? 'off',
    flags: options.jvmFlags ?? [],
  })
  const tooSlow = setTimeout(() => jvm.signal('SIGKILL'), START_TIMEOUT_MS)
  try {
    return new JavaPeer(jvm, name, await jvm.greeting)
  } finally {
    clearTimeout(tooSlow)
  }
}

/** A Java process with one Redisson client, and any number of threads by name. */
export class JavaPeer {
  readonly clientId: string
  readonly version: string
  /** Settings asked for that this Redisson does not have. */
  readonly unsupported: readonly string[]
  readonly #jvm: JvmProcess
  readonly #threads = new Map<string, JavaThread>()
  #contentions = 0

  constructor(
    jvm: JvmProcess,
    readonly name: string,
    greeting: Fields,
  ) {
    this.#jvm = jvm
    this.clientId = String(greeting.clientId)
    this.version = String(greeting.version)
    this.unsupported = greeting.unsupported as string[]
  }

  get pid(): number {
    return this.#jvm.pid
  }

  /** The Java thread of that name; the first call on it starts it. */
  thread(name: string): JavaThread {
    let thread = this.#threads.get(name)
    if (!thread) {
      thread = new JavaThread(this.#jvm, this.clientId, name)
      this.#threads.set(name, thread)
    }
    return thread
  }

  /** Lets threads of the peer go through a lock again and again, without a round trip to here in between. */
  async contend(lock: string, options: ContendOptions): Promise<ContentionReport> {
    const thread = `contend-${++this.#contentions}`
    return (await this.#jvm.ask<ContentionReport>('contend', { ...options, lock, thread })).value
  }

  /** Lets every `contend` called so far end as if its time were over: each thread after the turn it is in. */
  async stopContending(): Promise<void> {
    await this.#jvm.ask('stopContending', {})
  }

  /** The public methods of an interface of this Redisson, inherited ones included. */
  async describe(interfaceName = 'org.redisson.api.RLock'): Promise<JavaMethod[]> {
    return (await this.#jvm.ask<JavaMethod[]>('describe', { interface: interfaceName })).value
  }

  /** What this Redisson writes as its redisson.yaml. */
  async configuration(): Promise<string> {
    return (await this.#jvm.ask<string>('configuration', {})).value
  }

  /** Ends the Redisson client properly, then the process. What is held stays in Redis until its lease ends. */
  async shutdown(): Promise<void> {
    await this.#jvm.ask('shutdown', {})
    await this.#jvm.waitForEnd()
  }

  /** Ends the process without a goodbye; resolves when it is gone, even if it already was. */
  kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#jvm.signal(signal)
    return this.#jvm.waitForEnd()
  }

  /** Freezes the process, watchdog and connections included, as a long GC or a suspend would. */
  pause(): void {
    this.#jvm.signal('SIGSTOP')
  }

  resume(): void {
    this.#jvm.signal('SIGCONT')
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill()
  }
}
