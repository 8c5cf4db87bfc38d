import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redisson } from '../../../../src/index'
import type { JavaPeer } from '../../../kit/java/index'
import { enterJava, type Kind, type Turn } from './kinds'

/** What became of one kind of object in one round. */
export interface Verdict {
  /** How many turns there were. */
  readonly turns: number
  /** The longest time without a turn since the new primary answered, in ms. */
  readonly standstill: number
  /** How often more callers were inside than may be, and all of them believed that they were. */
  readonly together: number
  /** How many tokens were not greater than one before. */
  readonly tokens: number
  /** How many permits were free in the end; undefined where that is right, or there are none. */
  readonly wrong?: number | undefined
  /** The errors that callers got, by their code. */
  readonly errors: Readonly<Record<string, number>>
}

const SHORTEST = 2
const LONGEST = 15
/** Releases that are retried in the background end within this. */
const SETTLED_WITHIN = 8_000

/** Two clients take turns at one object. */
export class Contest {
  private readonly name: string
  private readonly entered: number[] = []
  private readonly inside = new Set<Turn>()
  private readonly stopping = new AbortController()
  private readonly errors: Record<string, number> = {}
  private callers: Promise<void>[] = []
  private together = 0
  private lastToken = 0
  private tokens = 0

  constructor(
    readonly kind: Kind,
    private readonly clients: readonly Redisson[],
    tag: string,
  ) {
    this.name = `{${tag}}:${kind.name.replaceAll(/\W+/g, '-')}`
  }

  get turns(): number {
    return this.entered.length
  }

  async begin(peer: JavaPeer | undefined): Promise<void> {
    const { kind, clients, name } = this
    const { signal } = this.stopping
    await kind.prepare?.(clients[0]!, name)
    this.callers = clients.flatMap((client, index) =>
      Array.from({ length: kind.callers ?? 1 }, () =>
        this.takeTurns('', () => kind.enter(client, name, signal, index)),
      ),
    )
    const { java } = kind
    if (peer && java) this.callers.push(this.takeTurns('Java: ', () => enterJava(peer, name, java)))
  }

  /** Ends the contest. `answered`: when the new primary answered first. */
  async end(answered: number): Promise<Verdict> {
    const now = performance.now()
    this.stopping.abort()
    await Promise.race([Promise.all(this.callers), sleep(SETTLED_WITHIN)])
    const { turns, together, tokens, errors } = this
    const standstill = this.longestGap(answered, now)
    return { turns, standstill, together, tokens, errors, wrong: await this.wrongCount() }
  }

  private async takeTurns(who: string, enter: () => Promise<Turn>) {
    const { signal } = this.stopping
    while (!signal.aborted) {
      try {
        const turn = await enter()
        this.enter(turn)
        await sleep(SHORTEST + Math.random() * (LONGEST - SHORTEST))
        this.inside.delete(turn)
        await turn.leave()
      } catch (error) {
        if (signal.aborted) return
        const { code = String(error) } = error as { code?: string }
        const said = who + code.slice(0, 80)
        this.errors[said] = (this.errors[said] ?? 0) + 1
        await sleep(50)
      }
    }
  }

  private enter(turn: Turn) {
    this.entered.push(performance.now())
    this.inside.add(turn)
    const believing = [...this.inside].filter(({ isHeld }) => isHeld).length
    if (believing > this.kind.capacity) this.together++
    const { token } = turn
    if (token === undefined) return
    if (token <= this.lastToken) this.tokens++
    this.lastToken = Math.max(token, this.lastToken)
  }

  private longestGap(answered: number, now: number): number {
    let longest = 0
    let last = answered
    for (const at of [...this.entered, now]) {
      if (at <= answered) continue
      longest = Math.max(longest, at - last)
      last = at
    }
    return longest
  }

  private async wrongCount(): Promise<number | undefined> {
    const { kind, clients, name } = this
    if (!kind.free) return undefined
    const until = performance.now() + SETTLED_WITHIN
    for (;;) {
      const free = await kind.free(clients[0]!, name)
      if (free === kind.capacity) return undefined
      if (performance.now() > until) return free
      await sleep(200)
    }
  }
}
