import { AsyncLocalStorage } from 'node:async_hooks'
import { hostname } from 'node:os'
import type { Redisson, RFencedLock } from 'rlock'
import { type Client, onAbort, outsideRequests } from 'rlock/internal'
import type { Election, ElectOptions } from './election'
import { type Leader, LeaderNotes } from './leader'
import { checkedClient } from './leased-object'
import { type Leadership, Term } from './term'

const RETRY_AFTER = 1_000
/** How long a leader that resigned leaves the lock to others, in ms, while no other leads. */
const LEFT_TO_OTHERS = 1_000
/** After these a candidate goes on. They are reported by events. */
const PASSING = new Set(['REDIS_UNAVAILABLE', 'LOCK_NOT_REPLICATED', 'LOCK_LOST'])

/** The term in whose work code runs. */
const working = new AsyncLocalStorage<Term>()

/** See the interface. */
export class Candidate implements Election {
  private readonly client: Client
  private readonly lock: RFencedLock
  private readonly notes: LeaderNotes
  private readonly ending = new AbortController()
  private current: Term | undefined
  /** The term that ended by `resign()`. */
  private resigned: Term | undefined
  private failure: unknown
  private isOver = false
  /** How many calls of `lead()` are open, and those that wait for the next term. */
  private leading = 0
  private readonly waiting = new Set<() => void>()

  constructor(
    redisson: Redisson,
    name: string,
    private readonly options: ElectOptions,
  ) {
    this.client = checkedClient(redisson)
    this.client.assertOpen()
    this.lock = redisson.getFencedLock(name)
    this.notes = new LeaderNotes(this.client, name)
    outsideRequests(() => this.stand())
  }

  get isLeader(): boolean {
    return this.current?.isLeading ?? false
  }

  get term(): number | undefined {
    return this.isLeader ? this.current!.term : undefined
  }

  async lead(work: (leadership: Leadership) => unknown): Promise<void> {
    if (typeof work !== 'function') throw new TypeError('lead expects a function')
    if (this.options.candidate === false)
      throw new TypeError('lead() is for candidates: `candidate` is false')
    this.leading++
    try {
      await this.leadInTurn(work)
    } finally {
      this.leading--
    }
  }

  async leader(): Promise<Leader | undefined> {
    return await this.notes.leader()
  }

  async *observe(): AsyncGenerator<Leader, void, undefined> {
    const { signal } = this.ending
    let term: number | undefined
    while (!signal.aborted) {
      try {
        const leader = await outsideRequests(() => this.notes.next(term, signal))
        term = leader!.term
        yield leader!
      } catch (error) {
        if (signal.aborted) return
        if (!isPassing(error)) throw error
        await this.pause()
      }
    }
  }

  async resign(): Promise<void> {
    const { current } = this
    if (!current) return
    this.resigned = current
    current.abort(new DOMException('The leader has resigned', 'AbortError'))
    // The work of this term waits here for no end of its own.
    if (working.getStore() !== current) await current.over
  }

  private async leadInTurn(work: (leadership: Leadership) => unknown) {
    let last: Term | undefined
    while (!this.isOver) {
      const { current } = this
      if (!current || current === last || current.signal.aborted) {
        await new Promise<void>((resolve) => this.waiting.add(resolve))
        continue
      }
      last = current
      try {
        await working.run(current, () => current.run(work))
      } catch (error) {
        // After the end of its term, the work ends as it likes.
        if (!current.signal.aborted) this.fail(error)
      }
    }
    if (this.failure !== undefined) throw this.failure
  }

  private async stand() {
    const { client, lock, ending, options } = this
    const { signal } = ending
    const sources = options.signal ? [client.closing, options.signal] : [client.closing]
    const stops = sources.map((source) => onAbort(source, () => ending.abort(source.reason)))
    for (const source of sources) if (source.aborted) ending.abort(source.reason)
    if (options.candidate === false && !signal.aborted)
      await new Promise<void>((resolve) => void onAbort(signal, resolve))
    while (!signal.aborted) {
      try {
        // The client may have a waitTime, which is not for candidates.
        const hold = await lock.tryAcquire({ waitTime: Number.POSITIVE_INFINITY, signal })
        await this.serve(new Term(hold!))
      } catch (error) {
        if (signal.aborted) break
        if (isPassing(error)) await this.pause()
        else this.fail(error)
      }
    }
    for (const stop of stops) stop()
    this.isOver = true
    this.wake()
  }

  private async serve(term: Term) {
    const { client, notes, ending, options } = this
    const stop = onAbort(ending.signal, () => term.abort(ending.signal.reason))
    if (ending.signal.aborted) term.abort(ending.signal.reason)
    const { label = client.options.label ?? `${hostname()}:${process.pid}`, onElected } = options
    notes.announce(term.owner, label, term.term)
    this.current = term
    this.wake()
    const told = async () => await onElected?.(term)
    told().catch((error) => client.events.error(error))
    await term.over
    this.current = undefined
    stop()
    if (this.resigned === term && !ending.signal.aborted)
      await notes.next(term.term, ending.signal, LEFT_TO_OTHERS).catch(() => {})
  }

  private wake() {
    const resolvers = [...this.waiting]
    this.waiting.clear()
    for (const resolve of resolvers) resolve()
  }

  /** It stands no more. Without a caller of `lead()` the event `error` tells. */
  private fail(error: unknown) {
    this.failure = error
    if (this.leading === 0) this.client.events.error(error as Error)
    this.ending.abort(error)
  }

  private async pause() {
    const { client, ending } = this
    await new Promise<void>((resolve) => {
      const stop = onAbort(ending.signal, () => {
        timer.cancel()
        resolve()
      })
      const timer = client.clock.after(RETRY_AFTER, () => {
        stop()
        resolve()
      })
    })
  }
}

function isPassing(error: unknown): boolean {
  return PASSING.has((error as { code?: string }).code ?? '')
}
