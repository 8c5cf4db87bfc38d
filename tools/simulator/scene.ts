import type { Stream } from '../../packages/testing/src/simulation/choices'
import type { SimulatedProcess } from '../../packages/testing/src/simulation/process'
import type { SimulatedServer } from '../../packages/testing/src/simulation/server'
import type { Redisson } from '../../src/redisson'
import type { JavaClient } from './java-model/client'
import type { SimulatedObject } from './judge/history'
import type { Recorder } from './recorder'

/**
 * A scene says what the callers of all clients do. To write one:
 *
 * - `setUp` returns the objects of a run. Draw what differs from run to run from the stream: the first option of a choice is
 *   the simplest, because a shrunk run takes it.
 * - `caller` is the life of one caller. It runs several times in each client, and anew in a client that replaces a killed one. It
 *   records each operation: `recorder.call(…)` before, `recorder.returned(…)` or `recorder.failed(…)` after. It ends by itself.
 *   It waits with `caller.sleep(ms)`, by the clock of its client, and takes each choice from `caller.choices`.
 * - It never asks for real time or real randomness. A promise that never settles is a violation.
 *
 * `lockSection` (lock-section.ts) does all this for everything that has `acquire`, `tryAcquire` and `withLock`.
 */
export interface Scene {
  readonly name: string
  readonly about: string
  /** How many servers; each client is connected to all of them. Default 1. */
  readonly servers?: number
  /** Whether the servers have a replica that acknowledges, so that they may fail over. Drawn by the run. Default true. */
  readonly mayHaveReplica?: boolean
  /** Default true. */
  readonly hasFaults?: boolean
  /** How many clients there are of the package and of Java. Default: drawn by the run. */
  readonly clients?: { readonly ours: number; readonly java: number }
  setUp(choices: Stream): Plan
}

/** What one run of a scene does. */
export interface Plan {
  readonly objects: readonly SimulatedObject[]
  /** Once, before the callers: sets permits, for instance. Without faults. */
  begin?(caller: Caller): Promise<void>
  caller(caller: Caller): Promise<void>
  /** The same for a thread of a Java client. Where it is given, some runs have Java clients. */
  javaCaller?(caller: JavaCaller): Promise<void>
}

/** A client of the package in a process of its own. */
export interface StageClient {
  readonly name: string
  readonly process: SimulatedProcess
  /** Its connection to the first server. */
  readonly redisson: Redisson
  /** One for each server. */
  readonly redissons: readonly Redisson[]
}

/** One caller of a client. */
export interface Caller {
  /** Unique in the run: the judge's `caller` of operations in one scope. */
  readonly name: string
  readonly client: StageClient
  readonly redisson: Redisson
  readonly choices: Stream
  readonly recorder: Recorder
  readonly settings: Settings
  readonly servers: readonly SimulatedServer[]
  /** An explicit thread id of this caller: no other caller of its client has it at the same time. */
  threadId(): number
  /** Counts, for names. */
  count(): number
  /** By the clock of the client. */
  sleep(ms: number): Promise<void>
}

/** A thread of a Java client. */
export interface JavaCaller extends Omit<Caller, 'redisson' | 'client'> {
  readonly client: { readonly name: string }
  readonly java: JavaClient
  /** The wall clock of its process, in ms. */
  now(): number
}

/** What was drawn for the whole run. */
export interface Settings {
  readonly clients: number
  readonly callers: number
  /** How many sections each caller wants. */
  readonly sections: number
  readonly watchdogTimeout: number
  /** Explicit leases to choose from, in ms. */
  readonly leases: readonly number[]
  readonly hasReplica: boolean
}
