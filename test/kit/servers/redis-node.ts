import { connect } from 'node:net'
import type { Address } from './address'
import type { Machine, ServerMode, ServerProcess } from './machine'
import { waitUntil } from './wait-until'

/** A started server and what a test may do to its process. */
export interface RedisNode extends Address {
  readonly url: string
  /** Ends the process and waits until it is gone; SIGKILL by default. */
  kill(signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>
  /** Freezes the process: connections stay open and nothing answers. */
  pause(): Promise<void>
  resume(): Promise<void>
  /**
   * Starts it again on the same port, killing it first if it runs. It finds on disk what it left there,
   * and that is only what it was configured to write: use `appendonly` for data to survive. With
   * `keepData: false` it starts from nothing, and with further lines of configuration where there are some.
   */
  restart(options?: { keepData?: boolean; config?: readonly string[] }): Promise<void>
  /** The last lines it wrote, for error messages. */
  log(): Promise<string>
}

export interface NodeSetup {
  readonly mode?: ServerMode
  readonly config: readonly string[]
  readonly password?: string | undefined
}

export async function startNode(machine: Machine, port: number, setup: NodeSetup): Promise<RedisNode> {
  const node = new StartedNode(machine, port, setup)
  await node.start({ fresh: true })
  return node
}

class StartedNode implements RedisNode {
  readonly host: string
  readonly url: string
  // Truly private: tests hand nodes to ioredis as they are, and it copies every visible property.
  readonly #machine: Machine
  readonly #setup: NodeSetup
  #process: ServerProcess | undefined

  constructor(
    machine: Machine,
    readonly port: number,
    setup: NodeSetup,
  ) {
    this.#machine = machine
    this.#setup = setup
    this.host = machine.host
    const { password } = setup
    this.url = `redis://${password ? `:${encodeURIComponent(password)}@` : ''}${this.host}:${port}`
  }

  async start({ fresh, config = [] }: { fresh: boolean; config?: readonly string[] }): Promise<void> {
    if (fresh) {
      const lines = [`port ${this.port}`, ...this.#setup.config, ...config]
      await this.#machine.prepare(this.port, lines)
    }
    const process = await this.#machine.start(this.port, this.#setup.mode ?? 'server')
    this.#process = process
    await waitUntil(
      `the server on port ${this.port} answers`,
      async () => !(await process.running()) || (await answersPing(this, this.#setup.password)),
      30_000,
      10,
    )
    if (!(await process.running())) {
      throw new Error(`The server on port ${this.port} ended before it answered:\n${await process.log()}`)
    }
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const process = this.#process
    if (!process) return
    await process.signal(signal)
    await waitUntil(`the server on port ${this.port} ends`, async () => !(await process.running()), 10_000, 5)
  }

  async pause(): Promise<void> {
    await this.#process?.signal('SIGSTOP')
  }

  async resume(): Promise<void> {
    await this.#process?.signal('SIGCONT')
  }

  async restart({
    keepData = true,
    config = [],
  }: {
    keepData?: boolean
    config?: readonly string[]
  } = {}): Promise<void> {
    await this.kill()
    await this.start({ fresh: !keepData, config })
  }

  async log(): Promise<string> {
    return (await this.#process?.log()) ?? ''
  }
}

/** Asked in plain bytes: a refusal for want of a login is an answer too, "loading" is none yet. */
function answersPing({ host, port }: Address, password: string | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host)
    let answer = ''
    const done = () => {
      socket.destroy()
      resolve(/\+PONG|-NOAUTH|-NOPERM/.test(answer))
    }
    socket.setTimeout(1000, done)
    socket.once('error', done)
    socket.once('close', done)
    socket.once('connect', () => {
      if (password) socket.write(`*2\r\n$4\r\nAUTH\r\n$${Buffer.byteLength(password)}\r\n${password}\r\n`)
      socket.write('*1\r\n$4\r\nPING\r\n')
    })
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString()
      const linesExpected = password ? 2 : 1
      if (answer.split('\r\n').length > linesExpected) done()
    })
  })
}
