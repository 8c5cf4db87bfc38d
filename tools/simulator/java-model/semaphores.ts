import { type JavaContext, prefixed, suffixed } from './context'
import { latchMessage, permitsMessage } from './entries'
import {
  ADD,
  COUNT_DOWN,
  DELETE_LATCH,
  DRAIN,
  FREE_LEASED,
  GIVE,
  GIVE_LEASED,
  LEASE_ANEW,
  SET_ONCE,
  TAKE,
  TAKE_LEASED,
  VALUE,
} from './scripts'

/** The expiry of a permit without a lease. */
const NEVER = 922_337_203_685_477

/** A semaphore of a Java client. No TTL ends a sleep: a lost message leaves it asleep. */
export class JavaSemaphore {
  private readonly channel: string

  constructor(
    private readonly context: JavaContext,
    private readonly name: string,
  ) {
    this.channel = prefixed('redisson_sc', name)
  }

  async trySetPermits(permits: number): Promise<boolean> {
    return Number(await this.run(SET_ONCE, permits, permits)) === 1
  }

  async addPermits(permits: number): Promise<void> {
    await this.run(ADD, permits)
  }

  async availablePermits(): Promise<number> {
    return Number(await this.run(VALUE))
  }

  async drainPermits(): Promise<number> {
    return Number(await this.run(DRAIN))
  }

  async release(permits = 1): Promise<void> {
    await this.run(GIVE, permits)
  }

  async acquire(permits = 1): Promise<void> {
    await this.tryAcquire(permits, undefined)
  }

  /** `wait`: in ms; 0: one try; undefined: for ever. */
  async tryAcquire(permits = 1, wait: number | undefined = 0): Promise<boolean> {
    const { port, entries } = this.context
    const take = async () => Number(await this.run(TAKE, permits)) === 1
    const end = wait === undefined ? undefined : port.now() + wait
    if (await take()) return true
    if (wait === 0) return false
    return await entries.listening(this.channel, permitsMessage, async (entry) => {
      while (true) {
        if (await take()) return true
        const left = end === undefined ? undefined : end - port.now()
        if (left !== undefined && left <= 0) return false
        await entries.sleep(entry, left)
      }
    })
  }

  private run(script: string, ...args: (string | number)[]): Promise<unknown> {
    return this.context.port.run(script, [this.name, this.channel], args)
  }
}

/** A semaphore whose permits have leases, by the clock of the client. Nothing renews them. */
export class LeasedSemaphore {
  /** When its last try was sent: the lease of what that was granted counts from then, by the clock of the client. */
  lastTry = 0
  private readonly keys: readonly string[]
  private readonly channel: string

  constructor(
    private readonly context: JavaContext,
    name: string,
  ) {
    this.channel = prefixed('redisson_sc', name)
    this.keys = [name, suffixed(name, 'timeout'), this.channel]
  }

  async trySetPermits(permits: number): Promise<boolean> {
    const [name = '', , channel = ''] = this.keys
    return Number(await this.context.port.run(SET_ONCE, [name, channel], [permits, permits])) === 1
  }

  async availablePermits(): Promise<number> {
    return Number(await this.run(FREE_LEASED, this.context.port.now()))
  }

  async acquire(lease?: number): Promise<string> {
    return (await this.tryAcquire(undefined, lease))!
  }

  /** The id; undefined when none was free in time. `wait` as above. */
  async tryAcquire(wait: number | undefined = 0, lease?: number): Promise<string | undefined> {
    const { port, entries } = this.context
    const id = this.newId()
    const take = async () => {
      this.lastTry = port.now()
      const expiry = lease === undefined ? NEVER : this.lastTry + lease
      return (await this.run(TAKE_LEASED, port.now(), expiry, id)) as string | null
    }
    const end = wait === undefined ? undefined : port.now() + wait
    if ((await take()) === 'OK') return id
    if (wait === 0) return undefined
    return await entries.listening(this.channel, permitsMessage, async (entry) => {
      while (true) {
        const answer = await take()
        if (answer === 'OK') return id
        const nearest = answer === null ? undefined : Math.max(1, Number(answer.slice(1)) - port.now())
        const left = end === undefined ? undefined : end - port.now()
        if (left !== undefined && left <= 0) return undefined
        await entries.sleep(entry, Math.min(nearest ?? NEVER, left ?? NEVER))
      }
    })
  }

  async tryRelease(id: string): Promise<boolean> {
    return Number(await this.run(GIVE_LEASED, this.context.port.now(), id)) === 1
  }

  async updateLeaseTime(id: string, lease: number): Promise<boolean> {
    const now = this.context.port.now()
    return Number(await this.run(LEASE_ANEW, now, now + lease, id)) === 1
  }

  /** 16 bytes as hex. */
  private newId(): string {
    const byte = () => Math.floor(this.context.port.random() * 256)
    return Array.from({ length: 16 }, () => byte().toString(16).padStart(2, '0')).join('')
  }

  private run(script: string, ...args: (string | number)[]): Promise<unknown> {
    return this.context.port.run(script, this.keys, args)
  }
}

/** A latch of a Java client. No TTL ends a sleep. */
export class JavaLatch {
  private readonly channel: string

  constructor(
    private readonly context: JavaContext,
    private readonly name: string,
  ) {
    this.channel = `redisson_countdownlatch__channel__{${name}}`
  }

  async trySetCount(count: number): Promise<boolean> {
    return Number(await this.run(SET_ONCE, count, '1')) === 1
  }

  async countDown(): Promise<void> {
    await this.run(COUNT_DOWN)
  }

  async getCount(): Promise<number> {
    return Number(await this.run(VALUE))
  }

  async delete(): Promise<boolean> {
    return Number(await this.run(DELETE_LATCH)) === 1
  }

  /** `wait`: in ms; undefined: for ever. Whether it opened in time. */
  async await(wait?: number): Promise<boolean> {
    const { port, entries } = this.context
    const end = wait === undefined ? undefined : port.now() + wait
    if ((await this.getCount()) <= 0) return true
    return await entries.listening(this.channel, latchMessage, async (entry) => {
      while ((await this.getCount()) > 0) {
        const left = end === undefined ? undefined : end - port.now()
        if (left !== undefined && left <= 0) return false
        if (!entry.isOpen) await entries.sleep(entry, left)
        // Java spins at an open gate with a new count. In virtual time something has to pass.
        else await new Promise<void>((resolve) => port.after(1, resolve))
      }
      return true
    })
  }

  private run(script: string, ...args: (string | number)[]): Promise<unknown> {
    return this.context.port.run(script, [this.name, this.channel], args)
  }
}
