import {
  lockChannel,
  prefixed,
  readTimeoutParts,
  readWriteLockChannel,
  type ScriptName,
  script,
  semaphoreChannel,
  suffixed,
  tokenLockChannel,
} from 'rlock/internal'
import type { Connection } from './connection'
import type { Row } from './model'
import { inSlices } from './names'
import { addressOf } from './pages'

export type Freed = 'freed' | 'freed, but no message was sent' | 'others hold it still' | 'gone'

/** The allowance of a place in the queue of a fair lock, in ms, as the locks give it to themselves. */
const FAIR_ALLOWANCE = 5_000

/** One script frees so many readers: the server does nothing else meanwhile. */
const OWNERS_AT_ONCE = 500

/** Frees these holders of a lock, if they hold it still, with the message that wakes the waiters of its kind. */
export async function free(connection: Connection, row: Row, owners: readonly string[]): Promise<Freed> {
  const { name, kind } = row
  const { publish } = connection
  const channel = lockChannel(name)
  const timeouts = readTimeoutParts(name)
  const answers: unknown[] = []
  if (kind === 'read-write') {
    const args = [...timeouts, readWriteLockChannel(name), publish]
    const writer = owners.find((owner) => owner.endsWith(':write'))
    answers.push(
      ...(writer === undefined
        ? await freeReaders(inSlices(owners, OWNERS_AT_ONCE), args)
        : [await run('write-lock/force-release', [name], [...args, writer])]),
    )
  } else if (kind === 'permit-expirable-semaphore') {
    const ids = owners.map((owner) => owner.replace(/^permit:/, '')).filter((id) => /^[0-9a-f]{32}$/.test(id))
    const args = ['0', semaphoreChannel(name), publish, ...ids]
    const [sent, ...states] = (await run(
      'permit-expirable-semaphore/release',
      [name, suffixed(name, 'timeout')],
      args,
    )) as number[]
    answers.push(states.every((state) => state === 0) ? 0 : sent === 2 ? 3 : 2)
  } else
    for (const owner of owners) {
      if (kind === 'token') {
        const hash = owner.replace(/^sha1:/, '')
        answers.push(await run('token-lock/force-release', [name], [tokenLockChannel(name), publish, hash]))
      } else if (kind === 'fair') {
        const keys = [name, prefixed('redisson_lock_queue', name), prefixed('redisson_lock_timeout', name)]
        const args = [owner, FAIR_ALLOWANCE, `${channel}:`, channel, publish]
        answers.push(await run('fair-lock/force-release', keys, args))
      } else answers.push(await run('lock/force-release', [name], [channel, publish, owner]))
    }
  const codes = answers.map((answer) => Number(Array.isArray(answer) ? answer[0] : answer))
  if (codes.every((code) => code === 0)) return 'gone'
  if (codes.includes(3)) return 'freed, but no message was sent'
  // Of several slices of readers only the last one finds nobody left.
  return codes.includes(2) ? 'freed' : 'others hold it still'

  async function freeReaders(slices: Iterable<readonly string[]>, args: readonly string[]) {
    const codes: unknown[] = []
    for (const slice of slices) codes.push(await run('read-lock/force-release', [name], [...args, ...slice]))
    return codes
  }

  async function run(source: ScriptName, keys: readonly string[], args: readonly (string | number)[]) {
    const text = script(source, (raw) => raw).source
    try {
      return await connection.redis.eval(text, keys.length, ...keys, ...args)
    } catch (error) {
      const safe = connection.safeError(error)
      if (/NOPERM|can't (run|access)/.test(safe.message))
        throw new Error(
          `this user may not free locks (${addressOf('docs/operations/security.md')} lists the rights of an operator): ${safe.message}`,
        )
      throw safe
    }
  }
}
