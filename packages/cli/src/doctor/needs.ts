import {
  INSPECT_CHANNEL,
  latchChannel,
  lockChannel,
  luaSources,
  prefixed,
  rateLimiterChannel,
  readTimeoutParts,
  readWriteLockChannel,
  requestsKey,
  semaphoreChannel,
  suffixed,
  tokenLockChannel,
} from 'rlock/internal'
import type { Connection } from '../connection'
import type { Kind } from '../model'

/** One command that an object sends to Redis. */
export interface Need {
  /** The object, as findings call it. */
  readonly object: string
  /** Its kind; null for what serves every object, and whose lack breaks none. */
  readonly kind: Kind | null
  readonly words: readonly [command: string, ...args: string[]]
  /** The key or channel among the words, as a pattern of the ACL: `~order:*`, `&redisson_sc:{order:*}`. */
  readonly pattern?: string
}

/** The names of objects whose rights are checked: one of them, and a pattern of the ACL for all of them. */
export interface Names {
  readonly one: string
  readonly all: string
}

interface Use {
  readonly object: string
  readonly kind: Kind
  /** The folders of lua/ whose scripts it runs. */
  readonly folders: readonly string[]
  /** Its keys beside its own name; `owner` is the field of an owner, or a client. */
  readonly keys: (name: string, owner: string) => readonly string[]
  readonly channels: (name: string, owner: string) => readonly string[]
}

/** In place of an owner: the result is a pattern. */
const ANY = '*'

const requests = (name: string, owner: string) => `${requestsKey(name)}:${owner}`

const USES: readonly Use[] = [
  {
    object: 'lock',
    kind: 'lock',
    folders: ['lock'],
    keys: () => [],
    channels: (name) => [lockChannel(name)],
  },
  {
    object: 'fair lock',
    kind: 'fair',
    folders: ['fair-lock', 'lock'],
    keys: (name) => [prefixed('redisson_lock_queue', name), prefixed('redisson_lock_timeout', name)],
    channels: (name, owner) => [lockChannel(name), `${lockChannel(name)}:${owner}`],
  },
  {
    object: 'fenced lock',
    kind: 'fenced',
    folders: ['fenced-lock', 'lock'],
    keys: (name) => [prefixed('redisson_lock_token', name)],
    channels: (name) => [lockChannel(name)],
  },
  {
    object: 'read-write lock',
    kind: 'read-write',
    folders: ['read-lock', 'write-lock'],
    keys(name, owner) {
      const [before, behind] = readTimeoutParts(name)
      return [`${before}${owner}${behind}${owner === ANY ? ANY : 1}`]
    },
    channels: (name) => [readWriteLockChannel(name)],
  },
  {
    object: 'token lock',
    kind: 'token',
    folders: ['token-lock'],
    keys: () => [],
    channels: (name) => [tokenLockChannel(name)],
  },
  {
    object: 'semaphore',
    kind: 'semaphore',
    folders: ['semaphore'],
    keys: (name, owner) => [requests(name, owner)],
    channels: (name) => [semaphoreChannel(name)],
  },
  {
    object: 'permit expirable semaphore',
    kind: 'permit-expirable-semaphore',
    folders: ['permit-expirable-semaphore'],
    keys: (name, owner) => [suffixed(name, 'timeout'), requests(name, owner)],
    channels: (name) => [semaphoreChannel(name)],
  },
  {
    object: 'latch',
    kind: 'latch',
    folders: ['count-down-latch'],
    keys: (name, owner) => [requests(name, owner)],
    channels: (name) => [latchChannel(name)],
  },
  {
    object: 'rate limiter',
    kind: 'rate-limiter',
    folders: ['rate-limiter'],
    keys: (name, owner) => [suffixed(name, 'value'), suffixed(name, 'permits'), requests(name, owner)],
    channels: (name) => [rateLimiterChannel(name)],
  },
]

const OWNER = '00000000-0000-4000-8000-000000000000:1'

/** How many arguments follow the key: ACL DRYRUN wants as many as the command takes. */
const ARGUMENTS_AFTER_KEY: Readonly<Record<string, number>> = {
  ...all(0, 'decr del exists get hgetall hkeys hlen incr llen lpop persist pttl type zcard'),
  ...all(1, 'decrby hdel hexists hget incrby lindex pexpire rpush set zmscore zrem zscore'),
  ...all(2, 'hincrby hset lrange lrem ltrim zadd zcount zrange zremrangebyrank'),
}

function all(count: number, commands: string): Record<string, number> {
  return Object.fromEntries(commands.split(' ').map((command) => [command, count]))
}

/** The commands that the scripts of these folders call on keys. */
export function commandsOf(folders: readonly string[]): string[] {
  const sources = Object.entries<string>(luaSources).filter(([name]) => folders.includes(name.split('/')[0]!))
  const called = sources.flatMap(([, source]) =>
    [...source.matchAll(/redis\.p?call\('(\w+)'|changeOnce\(\w+, \w+, '(\w+)'/g)].map(
      ([, plain, changed]) => plain ?? changed!,
    ),
  )
  return [...new Set(called)].filter((command) => command !== 'time')
}

/** Every right that objects with these names need, in the order in which the findings shall come. */
export function needsOf(names: Names, publish: 'publish' | 'spublish'): Need[] {
  const subscribe = publish === 'publish' ? 'subscribe' : 'ssubscribe'
  return USES.flatMap(({ object, kind, folders, keys, channels }): Need[] => {
    const need = (words: Need['words'], pattern?: string): Need => ({
      object,
      kind,
      words,
      ...(pattern !== undefined && { pattern }),
    })
    const owned = [names.one, ...keys(names.one, OWNER)]
    const ownedPatterns = [names.all, ...keys(names.all, ANY)]
    const heard = channels(names.one, OWNER)
    const heardPatterns = channels(names.all, ANY)
    return [
      need(['evalsha', 'no-such-script', '0']),
      need(['eval', 'return 1', '0']),
      need(['time']),
      ...commandsOf(folders).flatMap((command) =>
        owned.map((key, at) =>
          need(
            [command, key, ...Array<string>(ARGUMENTS_AFTER_KEY[command] ?? 1).fill('1')],
            `~${ownedPatterns[at]}`,
          ),
        ),
      ),
      ...heard.flatMap((channel, at) => [
        need([publish, channel, '0'], `&${heardPatterns[at]}`),
        need([subscribe, channel], `&${heardPatterns[at]}`),
      ]),
    ]
  })
}

/** What serves every object, and what no object needs in order to be correct: without it something is slower, or not seen. */
export function needsBeside({ kind, publish }: Connection): Need[] {
  const needs = (object: string, ...given: [Need['words'], string?][]) =>
    given.map(([words, pattern]): Need => ({ object, kind: null, words, ...(pattern && { pattern }) }))
  return [
    ...needs(
      'every connection',
      [['ping']],
      [['client', 'setname', 'rlock']],
      [[publish === 'publish' ? 'unsubscribe' : 'sunsubscribe', 'rlock']],
    ),
    ...needs(
      'the fence of a broken connection',
      [['client', 'id']],
      [['client', 'kill', 'id', '1']],
      [['info', 'server']],
    ),
    ...(kind === 'standalone' ? [] : needs('acknowledgement by replicas', [['wait', '1', '1']])),
    ...(kind === 'cluster' ? needs('slots that move', [['asking']]) : []),
    ...needs(
      'the answers to rlock ls and show',
      [['subscribe', INSPECT_CHANNEL], `&${INSPECT_CHANNEL}*`],
      [['publish', `${INSPECT_CHANNEL}:0`, '1'], `&${INSPECT_CHANNEL}*`],
    ),
  ]
}
