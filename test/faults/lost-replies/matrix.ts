import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { luaSources } from '../../../src/scripts/lua.generated'
import { script } from '../../../src/scripts/script'
import { createRedisson } from '../../kit/clients'
import { type Answering, LossyLink, type Return } from './lossy-link'
import { answerOf, type Outcome, observe } from './observing'
import { type Kind, Scene } from './scene'
import type { Setting } from './setting'

/** A script, called in one of the states it can meet. */
export interface Case {
  readonly kind: Kind
  readonly script: keyof typeof luaSources
  /** The state, as the title says it. */
  readonly state: string
  readonly arrange?: (scene: Scene) => Promise<unknown>
  /** The call; within it the script is sent. */
  readonly act: (scene: Scene, link: LossyLink) => Promise<unknown>
  /** What happens between the first copy and the second; the call cannot be answered before. */
  readonly meanwhile?: (scene: Scene) => Promise<unknown>
  /** The call waits for what happens meanwhile, fault or not. */
  readonly waitsForIt?: true
  /** What happens once the second copy is there, so that a call that waits comes to an end. */
  readonly afterwards?: (scene: Scene) => Promise<unknown>
  /** The script is sent within some ms of another answer or not at all: on a busy machine the case is played again. */
  readonly isSentInTime?: true
  /** How many levels the caller has to release in the end, as far as it knows. */
  readonly levels: number
  readonly lockWatchdogTimeout?: number
  /** The client of another holder frees a lease that ran out, and publishes that, before or after the fault. */
  readonly messagesVary?: true
  /** What may be otherwise than without the fault, and why. */
  readonly unlike?: { readonly why: string; readonly outcome: Partial<Outcome> }
}

/**
 * How far two remaining times may be apart, beyond what passed until they were seen; those that mean something
 * differ by more.
 */
const NEAR = 2_500
const AT_ONCE = 20

/** The cases of one setting, run beside each other: each has a name, a client and a network of its own. */
export class Matrix {
  private readonly outcomes = new Map<string, Promise<Outcome>>()
  private running = 0
  private readonly queue: (() => void)[] = []

  constructor(
    private readonly setting: () => Setting,
    private readonly of: Answering,
  ) {}

  start(cases: readonly Case[], returns: readonly Return[]): void {
    for (const each of cases)
      for (const how of returns)
        if (how !== 'resend' || !each.meanwhile) {
          const outcome = this.limited(() => run(this.setting(), each, how, this.of))
          outcome.catch(() => {})
          this.outcomes.set(keyOf(each, how), outcome)
        }
  }

  async compare(each: Case, how: Return): Promise<void> {
    const undisturbed = await this.outcomes.get(keyOf(each, 'none'))!
    const outcome = await this.outcomes.get(keyOf(each, how))!
    const expected: { -readonly [K in keyof Outcome]: Outcome[K] } = {
      ...undisturbed,
      ...each.unlike?.outcome,
    }
    // A copy that takes the lock anew draws another token, and others that get in draw theirs before or after.
    if (each.unlike || outcome.entered > 0) expected.token = outcome.token
    if (each.messagesVary) expected.messages = outcome.messages
    expect(evened(outcome, expected)).to.deep.equal(expected)
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.outcomes.values())
  }

  private async limited<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= AT_ONCE) await new Promise<void>((resolve) => this.queue.push(resolve))
    else this.running++
    try {
      return await work()
    } finally {
      const next = this.queue.shift()
      if (next) next()
      else this.running--
    }
  }
}

function keyOf(each: Case, how: Return): string {
  return `${each.script}, ${each.state}: ${how}`
}

/** How often a case is played at most that did not come to its fault. */
const PLAYED_AT_MOST = 4

/**
 * The fault of the case did not happen: its script was sent too late, or the client closed the connection before
 * the reply, as it does after its process has stood still for a second.
 */
class NotMet extends Error {}

async function run(setting: Setting, each: Case, how: Return, of: Answering): Promise<Outcome> {
  for (let times = 1; ; times++)
    try {
      return await runOnce(setting, each, how, of)
    } catch (error) {
      if (!(error instanceof NotMet) || times === PLAYED_AT_MOST) throw error
    }
}

async function runOnce(setting: Setting, each: Case, how: Return, of: Answering): Promise<Outcome> {
  const link = await LossyLink.open(setting.nodes)
  const { lockWatchdogTimeout = 30_000 } = each
  const us = await createRedisson({ redis: setting.source(link.addresses, link.natMap), lockWatchdogTimeout })
  try {
    const scene = new Scene(setting, each.kind, us, setting.newName())
    await setting.hear(scene.channel, (message) => scene.messages.push(message))
    return await us.run(() => play(scene, link, each, how, of))
  } finally {
    await us.shutdown({ timeout: 0 })
    await link.close()
  }
}

async function play(scene: Scene, link: LossyLink, each: Case, how: Return, of: Answering): Promise<Outcome> {
  await each.arrange?.(scene)
  await scene.heardAll()
  scene.messages.length = 0
  const lost = link.loseReply(script(each.script, (raw) => raw).sha, how, of)
  const acting = answerOf(() => each.act(scene, link))
  const mustBeSent = acting.then((answer) => {
    if (each.isSentInTime && !link.isSent)
      throw new NotMet(`${each.script} was not sent: ${JSON.stringify(answer)}`)
  })
  mustBeSent.catch(() => {})
  if (how === 'none') {
    await Promise.race([link.seenThrough(), mustBeSent.then(() => link.seenThrough())])
    if (each.meanwhile && !each.waitsForIt) await acting
  } else await Promise.race([lost, mustBeSent.then(() => acting).then(notLostSoon)])
  await each.meanwhile?.(scene)
  await link.letBack(how)
  await link.seenThrough()
  await each.afterwards?.(scene)
  return await observe(scene, link, await acting, each.levels)
}

/** What the call did may be seen on the server just before the proxy has dropped the reply. */
async function notLostSoon(answer: unknown): Promise<never> {
  await sleep(2_000)
  throw new NotMet(`answered before a reply was lost: ${JSON.stringify(answer)}`)
}

/** Holds are renewed as soon as a broken connection is back, by at most this. */
const RENEWED_BY = 30_000

/**
 * The outcome with the other's times where they are near enough. After a fault they may be longer, for every hold
 * that the watchdog keeps is renewed with the connection; and what has gone may be known by that renewal before
 * the undisturbed client knows, or before the forced release is answered.
 */
function evened(outcome: Outcome, other: Outcome): Outcome {
  const tolerance = NEAR + Math.max(outcome.age, other.age)
  const near = (time: number, wanted: number | undefined) =>
    wanted !== undefined &&
    time > 0 &&
    wanted > 0 &&
    time >= wanted - tolerance &&
    time <= Math.max(wanted, RENEWED_BY) + tolerance
      ? wanted
      : time
  const isGone = !outcome.hash.some((field) => field.startsWith('us'))
  const foundGone =
    isGone &&
    outcome.lost.every((reason) => reason === 'gone' || other.lost.includes(reason)) &&
    (other.lost.length === 0 || other.lost.length === outcome.lost.length)
  const asked = [outcome.ttlAsked, other.ttlAsked].map((answer) =>
    'value' in answer ? Number(answer.value) : -3,
  ) as [number, number]
  return {
    ...outcome,
    age: other.age,
    lost: foundGone && outcome.lost.length > 0 ? other.lost : outcome.lost,
    ttl: near(outcome.ttl, other.ttl),
    ttlAsked: near(...asked) === asked[1] ? other.ttlAsked : outcome.ttlAsked,
    readTimeouts: Object.fromEntries(
      Object.entries(outcome.readTimeouts).map(([key, ttl]) => [key, near(ttl, other.readTimeouts[key])]),
    ),
  }
}
