import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { lockChannel } from '../../../src/locks/hash-lock-scripts'
import { luaSources } from '../../../src/scripts/lua.generated'
import { cpuSeconds } from '../../driver/server-counts'
import type { Surroundings } from '../surroundings'

/** The scripts of acquiring and releasing, sent so leanly that nothing but the server's one core is the limit. */
export interface FullServerRow {
  readonly sectionsPerSecond: number
  readonly serverCpu: number
}

const WARM_UP = 1_000
const WINDOW = 4_000

/** Sections that travel together, and how many such loads are under way at a time. */
const SECTIONS_A_LOAD = 500
const LOADS = 4

/** What a section is answered by: acquired; released, and no client listened. */
const ANSWERS = '$-1\r\n:2\r\n'

export async function measureFullServer({ single, onProgress }: Surroundings): Promise<FullServerRow[]> {
  onProgress('the server as busy as can be')
  const [server] = single.servers
  await server!.flushall()
  const sending = new Sending(
    await loadOfSections(server!),
    connect(server!.options.port!, server!.options.host),
  )
  try {
    return [await Promise.race([overWindow(server!, sending), sending.failed])]
  } finally {
    sending.end()
  }
}

async function overWindow(server: Redis, sending: Sending): Promise<FullServerRow> {
  await sleep(WARM_UP)
  const before = { cpu: await cpuSeconds(server), sections: sending.sections, at: performance.now() }
  await sleep(WINDOW)
  const cpu = (await cpuSeconds(server)) - before.cpu
  const seconds = (performance.now() - before.at) / 1_000
  return { sectionsPerSecond: (sending.sections - before.sections) / seconds, serverCpu: cpu / seconds }
}

/** The commands as they travel. */
async function loadOfSections(redis: Redis): Promise<Buffer> {
  const hashOf = async (source: string) => (await redis.script('LOAD', source)) as string
  const acquire = await hashOf(luaSources['lock/acquire'])
  const release = await hashOf(luaSources['lock/release'])
  const [lock, owner] = ['bench:0', 'client:1']
  const section =
    encoded(['EVALSHA', acquire, '1', lock, owner, '30000']) +
    encoded(['EVALSHA', release, '1', lock, owner, '0', '0', lockChannel(lock), 'PUBLISH', '0'])
  return Buffer.from(section.repeat(SECTIONS_A_LOAD))
}

/** Plain ASCII only. */
function encoded(command: readonly string[]): string {
  return `*${command.length}\r\n${command.map((part) => `$${part.length}\r\n${part}\r\n`).join('')}`
}

/** Keeps loads under way and reads nothing of the answers but whether they are the right ones. */
class Sending {
  readonly failed: Promise<never>
  private received = 0

  constructor(
    private readonly load: Buffer,
    private readonly socket: Socket,
  ) {
    const expected = Buffer.from(ANSWERS.repeat(2 ** 16))
    this.failed = new Promise((_, reject) => {
      socket.on('error', reject)
      socket.on('data', (chunk) => {
        const offset = this.received % ANSWERS.length
        if (!chunk.equals(expected.subarray(offset, offset + chunk.length)))
          reject(new Error(`the server answered ${chunk.toString('latin1').slice(0, 200)}`))
        this.receive(chunk.length)
      })
    })
    // Whether anybody is still interested when it happens.
    this.failed.catch(() => {})
    for (let loads = 0; loads < LOADS; loads++) socket.write(load)
  }

  get sections(): number {
    return Math.floor(this.received / ANSWERS.length)
  }

  end(): void {
    this.socket.destroy()
  }

  private receive(bytes: number): void {
    const loadsBefore = Math.floor(this.sections / SECTIONS_A_LOAD)
    this.received += bytes
    const loads = Math.floor(this.sections / SECTIONS_A_LOAD) - loadsBefore
    for (let count = 0; count < loads; count++) this.socket.write(this.load)
  }
}
