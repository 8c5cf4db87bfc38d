import type { Context } from 'mocha'
import { sharedStandalone } from './shared'
import { info, withClient } from './with-client'

/** What Redis 6.2, the oldest that is supported, does not have, and the version that brought it. */
const SINCE = {
  'sharded pub/sub': 7,
  'ACL DRYRUN': 7,
  'statistics of subcommands': 7,
  'loading-process-events-interval-bytes': 7,
} as const

export type Ability = keyof typeof SINCE

let version: Promise<number> | undefined

/** 6.2 as a number. Valkey reports the version of Redis that it is compatible with. */
function serverVersion(): Promise<number> {
  version ??= sharedStandalone().then((server) =>
    withClient(server, async (client) =>
      Number.parseFloat((await info(client, 'server')).get('redis_version')!),
    ),
  )
  return version
}

/** Whether the servers that the tests start have it. */
export const serverHas = async (ability: Ability): Promise<boolean> =>
  (await serverVersion()) >= SINCE[ability]

/** Skips the test, or the suite of a `before`, where the server lacks it, and says so on stderr. */
export async function needs(context: Context, ability: Ability): Promise<void> {
  if (await serverHas(ability)) return
  const { test } = context
  // Of a hook, the suite that it is for.
  const title = (test?.title.startsWith('"before all"') ? test.parent : test)?.title
  process.stderr.write(`Pending: ${title} (the server has no ${ability})\n`)
  context.skip()
}

/** Configuration with which a server is loading for a moment: time for each key, and commands are answered in between. */
export async function slowLoading(): Promise<string[]> {
  // Redis 6.2 looks at commands after every thousand keys.
  const often = (await serverHas('loading-process-events-interval-bytes'))
    ? ['loading-process-events-interval-bytes 1024']
    : []
  return ['key-load-delay 300', ...often]
}

/** Whether a cluster of these servers may have several databases: since Valkey 9. */
export async function hasClusterDatabases(): Promise<boolean> {
  const server = await sharedStandalone()
  const version = await withClient(server, async (client) =>
    (await info(client, 'server')).get('valkey_version'),
  )
  return Number.parseFloat(version ?? '0') >= 9
}
