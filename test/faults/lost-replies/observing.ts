import { prefixed } from '../../../src/scripts/key-names'
import { look } from '../../kit/read-write/state'
import { waitUntil } from '../../kit/servers/index'
import type { LossyLink } from './lossy-link'
import type { Scene } from './scene'

/** An answer to a call, or what it was rejected with. */
export type Answer = { readonly value: unknown } | { readonly rejected: string }

/** Everything that a user, or a peer in another language, can tell after a call. */
export interface Outcome {
  readonly answer: Answer
  readonly count: Answer
  readonly held: Answer
  readonly locked: Answer
  readonly ttlAsked: Answer
  /** `us=2`, `peer:write=1` … and the mode of a read-write lock. */
  readonly hash: readonly string[]
  readonly ttl: number
  /** `us#1` and the remaining time of that read timeout key. */
  readonly readTimeouts: Readonly<Record<string, number>>
  readonly strangers: readonly string[]
  /** The newest token of a fenced lock: how many were drawn. */
  readonly token: string | null
  /** The messages on the channel without repetition: a message may come twice. */
  readonly messages: readonly string[]
  readonly lost: readonly string[]
  /** What the unlocks of all levels answered, and what is left in Redis then. */
  readonly unlocked: readonly Answer[]
  readonly left: readonly string[]
  /** How long before all this was seen the script was first sent: by so much times may differ. */
  readonly age: number
  /** How many waiting threads of the peer got in. */
  readonly entered: number
}

export async function answerOf(call: () => Promise<unknown>): Promise<Answer> {
  try {
    return { value: await call() }
  } catch (error) {
    return { rejected: (error as { code?: string }).code ?? String(error) }
  }
}

export async function observe(
  scene: Scene,
  link: LossyLink,
  answer: Answer,
  levels: number,
): Promise<Outcome> {
  const { lock, setting, messages, lost } = scene
  const standing = await look(setting.admin, scene.name)
  const count = await answerOf(() => lock.getHoldCount())
  const held = await answerOf(() => lock.isHeldByCurrentThread())
  const locked = await answerOf(() => lock.isLocked())
  const ttlAsked = await answerOf(() => lock.remainTimeToLive())
  const { age } = link
  const tokenKey = `redisson_lock_token:{${scene.name}}`
  const token = await setting.admin.get(tokenKey)
  const unlocked: Answer[] = []
  for (let each = 0; each < levels; each++) unlocked.push(await answerOf(() => lock.unlock()))
  const entered = await scene.letIn(levels > 0)
  // What is still in flight when a waiter leaves is taken out of the queue when it is answered.
  await waitUntil('the queue of a fair lock is empty', async () => (await queueOf(scene)) === 0)
  const left = await look(setting.admin, scene.name)
  await scene.heardAll()
  return {
    answer,
    count,
    held,
    locked,
    ttlAsked,
    hash: hashOf(scene, standing),
    ttl: standing.ttl,
    readTimeouts: Object.fromEntries(
      Object.entries(standing.readTimeouts).map(([key, ttl]) => [nameOf(scene, key), ttl]),
    ),
    strangers: standing.strangers.filter((key) => !key.startsWith('redisson_lock_')),
    token,
    messages: [...new Set(messages)].sort(),
    lost: [...lost],
    unlocked,
    left: [...hashOf(scene, left), ...Object.keys(left.readTimeouts).map((key) => nameOf(scene, key))].sort(),
    age,
    entered,
  }
}

function queueOf({ setting, name }: Scene): Promise<number> {
  return setting.admin.exists(prefixed('redisson_lock_queue', name), prefixed('redisson_lock_timeout', name))
}

function hashOf(scene: Scene, { mode, fields }: Awaited<ReturnType<typeof look>>): string[] {
  const holders = Object.entries(fields).map(([field, count]) => `${nameOf(scene, field)}=${count}`)
  return mode === undefined ? holders.sort() : [`mode=${mode}`, ...holders.sort()]
}

/** Whose field or read timeout key it is: thread ids are new in every run. */
function nameOf({ us, setting }: Scene, field: string): string {
  return field
    .replace(new RegExp(`^${us.getId()}:\\d+`), 'us')
    .replace(new RegExp(`^${setting.peer.getId()}:\\d+`), 'peer')
}
