import type { Redisson } from '../../../src/redisson'
import type { JavaLockKind } from '../java-model/client'
import type { ObjectKind, SimulatedObject } from '../judge/history'
import { lockSection, type SectionOptions } from '../lock-section'
import { operation, setFirst, told } from '../operation'
import type { Caller, JavaCaller, Scene } from '../scene'
import { javaLatchStep, javaLockSection, javaPermitSection, javaSemaphoreSection } from '../scenes/java'
import { lockOf } from '../scenes/lock-of'
import { permitSection } from '../scenes/permits'
import { runOnceSection } from '../scenes/run-once'
import { semaphoreSection } from '../scenes/semaphore'

/** What one of two clients does, by its only caller. */
interface SmallWorld {
  readonly name: string
  readonly objects: readonly SimulatedObject[]
  play(caller: Caller, isFirst: boolean): Promise<unknown>
  /** 1 where absent. */
  readonly servers?: number
  begin?(caller: Caller): Promise<void>
  /** What the second client does, which is Java's. */
  java?(caller: JavaCaller): Promise<void>
}

const isOnly = ({ name }: Pick<Caller, 'name'>) => name.endsWith('.1')

/** Two clients with one caller each, one name, one section each. */
function smallWorld({ name, objects, play, servers = 1, begin, java }: SmallWorld): Scene {
  return {
    name: java ? `${name} with Java` : name,
    about: 'a small world',
    mayHaveReplica: false,
    servers,
    ...(java ? { clients: { ours: 1, java: 1 } } : {}),
    setUp: () => ({
      objects,
      ...(begin ? { begin } : {}),
      async caller(caller) {
        if (isOnly(caller)) await play(caller, caller.name === 'c1.1')
      },
      ...(java
        ? {
            async javaCaller(caller) {
              if (isOnly(caller)) await java(caller)
            },
          }
        : {}),
    }),
  }
}

const SHORT = { way: { length: 2, pieces: 2 } }

/** A world of two clients of the package; with Java's name of the kind also one of a client of each. */
function lockWorlds(
  name: string,
  kind: ObjectKind,
  javaKind?: JavaLockKind,
  options: SectionOptions = {},
): readonly Scene[] {
  const object = { kind, name: 'one' }
  const world: SmallWorld = {
    ...{ name, objects: [object] },
    play: (caller) => lockSection(caller, object, lockOf(caller.redisson, object), { ...SHORT, ...options }),
  }
  if (!javaKind) return [smallWorld(world)]
  return [
    smallWorld(world),
    smallWorld({ ...world, java: (caller) => javaLockSection(caller, object, javaKind) }),
  ]
}

/** The same for what has no owner: a world without Java, and one with it. */
function worlds(world: SmallWorld, java: NonNullable<SmallWorld['java']>): readonly Scene[] {
  return [smallWorld(world), smallWorld({ ...world, java })]
}

const WRITE = { kind: 'write', name: 'one' } as const
const READ = { kind: 'read', name: 'one' } as const
const SEMAPHORE = { kind: 'semaphore', name: 'one' } as const
const PERMITS = { kind: 'permits', name: 'one' } as const
const LATCH = { kind: 'latch', name: 'one' } as const

/** A multi lock and one of its members. */
const MEMBERS: readonly SimulatedObject[] = ['one', 'two'].map((name) => ({ kind: 'lock', name }))
const MULTI: SimulatedObject = { kind: 'multi', name: 'one+two', members: MEMBERS }

/** Of two members, so that it needs both, and all orders of its answers are few enough to be run. */
const RED: SimulatedObject = {
  ...{ kind: 'red', name: 'one' },
  members: [1, 2].map((server) => ({ kind: 'lock', name: 'one', server: `server ${server}` })),
}
const JOB = { kind: 'run-once', name: 'job' } as const

const redSection = (caller: Caller) => {
  const { client, redisson } = caller
  const lock = redisson.getRedLock(...client.redissons.map((each) => each.getLock('one')))
  return lockSection(caller, RED, lock, { ...SHORT, mayReenter: false })
}

const countDown = (caller: Caller) =>
  operation(caller, caller.name, { object: LATCH, operation: 'count-down' }, () =>
    caller.redisson.getCountDownLatch('one').countDown(),
  )
const awaits = (caller: Caller) => {
  const asked = { object: LATCH, operation: 'await', wait: 4_000 } as const
  const open = () => caller.redisson.getCountDownLatch('one').await({ waitTime: 4_000 })
  return operation(caller, caller.name, asked, open, told)
}

/** Sets the permits, or the count, before the callers begin. */
const set = (object: SimulatedObject, first: (redisson: Redisson) => Promise<boolean>) => (caller: Caller) =>
  setFirst(caller, object, 1, () => first(caller.redisson))

export const smallWorlds: readonly Scene[] = [
  ...lockWorlds('plain', 'lock', 'lock'),
  ...worlds(
    {
      name: 'read-write',
      objects: [WRITE, READ],
      play: (caller, isFirst) => {
        const lock = caller.redisson.getReadWriteLock('one')
        return isFirst
          ? lockSection(caller, WRITE, lock.writeLock(), SHORT)
          : lockSection(caller, READ, lock.readLock(), SHORT)
      },
    },
    (caller) => javaLockSection(caller, READ, 'read'),
  ),
  ...lockWorlds('fair', 'fair', 'fair'),
  ...lockWorlds('fenced', 'fenced', 'fenced'),
  ...lockWorlds('non-reentrant', 'non-reentrant', undefined, { mayReenter: false }),
  ...lockWorlds('spin', 'spin'),
  ...lockWorlds('token', 'token'),
  smallWorld({
    name: 'multi',
    objects: [...MEMBERS, MULTI],
    play: (caller, isFirst) => {
      const [one, two] = MEMBERS.map(({ name }) => caller.redisson.getLock(name))
      return isFirst
        ? lockSection(caller, MULTI, caller.redisson.getMultiLock(one!, two!), {
            ...SHORT,
            mayReenter: false,
          })
        : lockSection(caller, MEMBERS[1]!, two!, SHORT)
    },
  }),
  smallWorld({
    ...{ name: 'red with its member', servers: RED.members!.length, objects: [...RED.members!, RED] },
    play: (caller, isFirst) => {
      if (isFirst) return redSection(caller)
      const [, redisson] = caller.client.redissons
      return lockSection(caller, RED.members![1]!, redisson!.getLock('one'), SHORT)
    },
  }),
  // More orders than can be run.
  smallWorld({
    ...{ name: 'red', servers: RED.members!.length, objects: [RED], play: redSection },
  }),
  smallWorld({
    ...{ name: 'run-once', objects: [JOB] },
    play: (caller) => runOnceSection(caller, JOB, 50),
  }),
  ...worlds(
    {
      ...{
        name: 'semaphore',
        objects: [SEMAPHORE],
        play: (caller) => semaphoreSection(caller, SEMAPHORE, 1),
      },
      begin: set(SEMAPHORE, (redisson) => redisson.getSemaphore('one').trySetPermits(1)),
    },
    (caller) => javaSemaphoreSection(caller, SEMAPHORE, 1),
  ),
  ...worlds(
    {
      ...{ name: 'permits', objects: [PERMITS], play: (caller) => permitSection(caller, PERMITS) },
      begin: set(PERMITS, (redisson) => redisson.getPermitExpirableSemaphore('one').trySetPermits(1)),
    },
    (caller) => javaPermitSection(caller, PERMITS),
  ),
  smallWorld({
    ...{ name: 'latch', objects: [LATCH] },
    play: (caller, isFirst) => (isFirst ? countDown(caller) : awaits(caller)),
    begin: set(LATCH, (redisson) => redisson.getCountDownLatch('one').trySetCount(1)),
  }),
  smallWorld({
    ...{ name: 'latch', objects: [LATCH], play: awaits },
    begin: set(LATCH, (redisson) => redisson.getCountDownLatch('one').trySetCount(1)),
    // Its first choice is to count down.
    java: (caller) => javaLatchStep(caller, LATCH, 1),
  }),
]

/** The small worlds of a scene: of its object alone, and with a client of Java or another object. */
export const worldsOf = (scene: string): readonly string[] =>
  smallWorlds.map(({ name }) => name).filter((name) => name === scene || name.startsWith(`${scene} with `))
