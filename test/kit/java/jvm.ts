import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { endWithThisProcess } from '../servers/left-behind'
import { javaCommand } from './availability'
import { type Answer, type Fields, JavaError } from './protocol'

// Many short-lived JVMs on a small machine: start quickly, stay small.
const JVM_FLAGS = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto', '-Xmx256m']
const STDERR_KEPT = 4000

export type LogLevel = 'off' | 'error' | 'warn' | 'info' | 'debug' | 'trace'

export interface Jvm {
  classpath: string
  config: Fields
  logLevel: LogLevel
  flags: readonly string[]
}

interface Pending {
  op: string
  resolve(answer: Answer<unknown>): void
  reject(error: Error): void
}

/** A running peer: sends commands, pairs the answers. Keeps the process alive only while one is due. */
export class JvmProcess {
  /** The first line the peer prints. */
  readonly greeting: Promise<Fields>
  readonly exited: Promise<void>
  readonly #child: ChildProcess
  readonly #pending = new Map<number, Pending>()
  #lastId = 0
  #stderr = ''
  #ended: Error | undefined

  constructor({ classpath, config, logLevel, flags }: Jvm) {
    const log = `-Dorg.slf4j.simpleLogger.defaultLogLevel=${logLevel}`
    this.#child = spawn(
      javaCommand('java'),
      [...JVM_FLAGS, log, ...flags, '-cp', classpath, 'rlock.peer.Peer'],
      {
        stdio: ['pipe', 'pipe', 'pipe'],
        env: { ...process.env, PEER_CONFIG: JSON.stringify(config) },
      },
    )
    endWithThisProcess(this.#child)
    this.exited = new Promise((resolve) => this.#child.once('close', () => resolve()))
    this.greeting = this.#expect(0, 'start').then((answer) => answer as unknown as Fields)
    this.#child.on('error', (error) => this.#end(error))
    // `close` comes after the last line was read, so a peer's last answers still count.
    this.#child.on('close', (code, signal) => this.#end(new Error(`the Java peer ended (${signal ?? code})`)))
    this.#child.stdin!.on('error', () => {}) // It is gone; `close` says so.
    createInterface({ input: this.#child.stdout as Readable }).on('line', (line) => this.#read(line))
    this.#child.stderr!.on('data', (data) => {
      this.#stderr = (this.#stderr + data).slice(-STDERR_KEPT)
      if (logLevel !== 'off') process.stderr.write(data)
    })
  }

  get pid(): number {
    return this.#child.pid!
  }

  ask<T>(op: string, fields: Fields): Promise<Answer<T>> {
    const id = ++this.#lastId
    const answer = this.#expect(id, op)
    if (!this.#ended) (this.#child.stdin as Writable).write(`${JSON.stringify({ ...fields, op, id })}\n`)
    return answer as Promise<Answer<T>>
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Resolves once it is gone, and keeps this process alive until then. */
  waitForEnd(): Promise<void> {
    this.#hold(true)
    return this.exited
  }

  #expect(id: number, op: string): Promise<Answer<unknown>> {
    if (this.#ended) return Promise.reject(new Error(`${op}: ${this.#ended.message}`))
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { op, resolve, reject })
      this.#hold(true)
    })
  }

  #read(line: string): void {
    const answer = JSON.parse(line) as Answer<unknown> & {
      id?: number
      ok?: boolean
      ready?: boolean
    } & Fields
    const pending = this.#pending.get(answer.id ?? 0)
    if (!pending) return
    this.#pending.delete(answer.id ?? 0)
    if (this.#pending.size === 0) this.#hold(false)
    if (answer.ok || answer.ready) pending.resolve(answer)
    else pending.reject(new JavaError(String(answer.error), String(answer.message)))
  }

  #end(reason: Error): void {
    this.#ended ??= reason
    for (const { op, reject } of this.#pending.values()) {
      reject(new Error(`${op}: ${reason.message}${this.#stderr && `\n${this.#stderr}`}`))
    }
    this.#pending.clear()
  }

  /** An idle peer must not keep a finished test run from ending. */
  #hold(held: boolean): void {
    const { stdin, stdout, stderr } = this.#child
    for (const part of [this.#child, stdin, stdout, stderr] as (ChildProcess | null)[]) {
      if (held) part?.ref()
      else part?.unref()
    }
  }
}
