import { expect } from 'chai'
import * as fc from 'fast-check'
import type { Redis } from 'ioredis'
import { look } from '../read-write/state'
import type { ModelClient } from './clients'
import { type Answer, type Field, Reference, type Side } from './reference'

/** In virtual ms; a third of it passes at a time, so nothing runs out close to a look. */
export const WATCHDOG = 3_000_000
const LEASES = [undefined, undefined, WATCHDOG / 2, 2 * WATCHDOG - 500_000] as const
/** What the real time of a run may take off a real TTL. */
const SLACK = 60_000
/** A level that is entered anew within 2 ms ends some ms later than asked for, apart from the one before (distinct-lease-end.lua). */
const LONGER = 1_000
const CALLERS = [0, 1] as const

export type Action =
  | { do: 'tryLock'; client: number; caller: number; side: Side; lease: number | undefined }
  | { do: 'unlock' | 'force'; client: number; caller: number; side: Side }
  | { do: 'stepDown'; client: number; caller: number; lease: number | undefined; after: number }
  | { do: 'kill'; client: number }
  | { do: 'advance' | 'ask' }

export interface Kinds {
  readonly kill: boolean
  readonly time: boolean
}

export function actions(kinds: Kinds): fc.Arbitrary<Action[]> {
  const who = {
    client: fc.integer({ min: 0, max: 2 }),
    caller: fc.constantFrom(...CALLERS),
  }
  const side = fc.constantFrom<Side>('read', 'write')
  const weighted: fc.WeightedArbitrary<Action>[] = [
    {
      weight: 10,
      arbitrary: fc.record({
        do: fc.constant('tryLock'),
        ...who,
        side,
        lease: fc.constantFrom(...LEASES),
      }),
    },
    { weight: 8, arbitrary: fc.record({ do: fc.constant('unlock'), ...who, side }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('stepDown'),
        ...who,
        lease: fc.constantFrom(...LEASES),
        after: kinds.time ? fc.integer({ min: 0, max: 2 }) : fc.constant(0),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('force'), ...who, side }) },
    { weight: 3, arbitrary: fc.constant({ do: 'ask' } as const) },
  ]
  if (kinds.kill)
    weighted.push({ weight: 1, arbitrary: fc.record({ do: fc.constant('kill'), client: who.client }) })
  if (kinds.time) weighted.push({ weight: 4, arbitrary: fc.constant({ do: 'advance' } as const) })
  return fc.array(fc.oneof(...weighted), { minLength: 6, maxLength: 20 })
}

/** The real clients and the model, through one sequence of actions, compared after each. */
export class Run {
  readonly reference: Reference
  /** The field on the server of each field of the model. */
  private readonly names = new Map<Field, string>()

  constructor(
    private readonly redis: Redis,
    private readonly name: string,
    private readonly clients: ModelClient[],
    private readonly reopen: (client: number) => Promise<ModelClient>,
    /** Moves the server's time and then ours on by a third of the watchdog's lease. */
    private readonly advance: () => Promise<void>,
    java: readonly number[] = [],
    /** Leases are not looked at: Java's are its own. */
    private readonly timeless = java.length > 0,
  ) {
    this.reference = new Reference(WATCHDOG, java)
  }

  async all(sequence: readonly Action[]): Promise<void> {
    for (const action of sequence) {
      await this.step(action)
      await this.compare()
    }
    // Everybody lets go; only what the dead left may remain.
    for (const client of this.clients.keys())
      for (const caller of CALLERS)
        for (const side of ['read', 'write'] as const)
          while (this.reference.levels(client, caller, side) > 0) await this.unlock(client, caller, side)
    await this.compare()
  }

  private async step(action: Action): Promise<void> {
    switch (action.do) {
      case 'tryLock':
        return await this.tryLock(action.client, action.caller, action.side, action.lease)
      case 'unlock':
        return await this.unlock(action.client, action.caller, action.side)
      case 'stepDown':
        await this.tryLock(action.client, action.caller, 'write', undefined)
        await this.tryLock(action.client, action.caller, 'read', action.lease)
        for (let i = 0; i < action.after; i++) await this.pass()
        return await this.unlock(action.client, action.caller, 'write')
      case 'force': {
        const answer = await this.clients[action.client]!.force(this.name, action.side)
        return this.same('forceUnlock', answer, this.reference.force(action.client, action.side))
      }
      case 'kill':
        await this.clients[action.client]!.kill()
        this.clients[action.client] = await this.reopen(action.client)
        return this.reference.kill(action.client)
      case 'advance':
        return await this.pass()
      case 'ask':
        return await this.ask()
    }
  }

  private async tryLock(client: number, caller: number, side: Side, lease: number | undefined) {
    const answer = await this.clients[client]!.tryLock(this.name, caller, side, lease)
    this.same(`${side} tryLock`, answer, this.reference.tryLock(client, caller, side, lease))
  }

  private async unlock(client: number, caller: number, side: Side) {
    const answer = await this.clients[client]!.unlock(this.name, caller, side)
    this.same(`${side} unlock`, answer, this.reference.unlock(client, caller, side))
    // What a hold that ran out left on the server is released in the background.
    await this.clients[client]!.quiet()
  }

  private async pass() {
    await this.advance()
    this.reference.advance()
  }

  private async ask() {
    for (const [client, real] of this.clients.entries()) {
      for (const side of ['read', 'write'] as const)
        expect(await real.isLocked(this.name, side), `${side} isLocked`).to.equal(
          this.reference.isLocked(side),
        )
      for (const caller of CALLERS)
        for (const side of ['read', 'write'] as const) {
          const answer = await real.holds(this.name, caller, side)
          const count = this.reference.holdCount(client, caller, side)
          this.same(`${side} holds`, answer, typeof answer === 'boolean' ? count > 0 : count)
        }
    }
  }

  private same(what: string, real: Answer | number, model: Answer | number) {
    expect(real, what).to.equal(model)
  }

  /** The state in the server, and what anybody can ask for without changing it. */
  private async compare(): Promise<void> {
    const { reference, redis, name } = this
    const [standing, ...locked] = await Promise.all([
      look(redis, name),
      this.clients[0]!.isLocked(name, 'read'),
      this.clients[1]!.isLocked(name, 'write'),
    ])
    expect(locked, 'isLocked of both sides').to.deep.equal([
      reference.isLocked('read'),
      reference.isLocked('write'),
    ])
    expect(
      standing.strangers.filter((key) => !key.startsWith('redisson_unlock_latch')),
      'other keys',
    ).to.deep.equal([])
    expect(standing.mode, 'mode').to.equal(reference.mode)
    this.bind(Object.keys(standing.fields))
    const fields = reference.fields.map((field) => [this.names.get(field), field.count] as const)
    expect(standing.fields, 'fields').to.deep.equal(Object.fromEntries(fields))
    this.near('the time to live', standing.ttl, reference.mode ? reference.expires - reference.now : -2)
    const readTimeouts = reference.fields.flatMap((field) =>
      field.readTimeouts.map((end, i) => [`${this.names.get(field)}#${i + 1}`, end - reference.now] as const),
    )
    const running = readTimeouts.filter(([, left]) => left > 0)
    const names = running.map(([key]) => key)
    // A forced release by Java leaves the read timeout keys to themselves.
    if (this.timeless) expect(Object.keys(standing.readTimeouts), 'readTimeouts').to.include.members(names)
    else expect(Object.keys(standing.readTimeouts), 'readTimeouts').to.have.members(names)
    for (const [key, left] of running) this.near(key, standing.readTimeouts[key]!, left)
  }

  /** A field that is new in the model is the one that is new in the server. */
  private bind(present: readonly string[]) {
    const known = new Set(this.names.values())
    const added = present.filter((each) => !known.has(each))
    for (const field of this.reference.fields) {
      if (this.names.has(field)) continue
      const client = this.clients[field.client]!
      const own = (each: string) =>
        each.startsWith(`${client.id}:`) && each.endsWith(':write') === (field.side === 'write')
      this.names.set(field, client.fieldOf?.(field.caller, field.side) ?? added.find(own) ?? 'missing')
    }
  }

  private near(what: string, real: number, model: number) {
    if (this.timeless) return
    expect(real, what).to.be.within(model - SLACK, model < 0 ? model : model + LONGER)
  }
}

/** What a run leaves of killed clients. */
export async function wipe(redis: Redis, name: string): Promise<void> {
  const { strangers, readTimeouts } = await look(redis, name)
  const keys = Object.keys(readTimeouts).map((key) => {
    const [owner, level] = key.split('#')
    return `{${name}}:${owner}:rwlock_timeout:${level}`
  })
  await redis.del(name, ...strangers, ...keys)
}

/** RLOCK_SEED, or one of its own; fast-check prints it with the shrunk counterexample on failure. */
export function seed(): number {
  const given = process.env.RLOCK_SEED
  return given === undefined ? (Math.random() * 2 ** 31) | 0 : Number(given)
}
