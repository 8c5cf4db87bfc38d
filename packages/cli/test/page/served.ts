import { waitUntil } from '../../../../test/kit/servers/index'
import { type Run, start } from '../cli'

export interface Served {
  readonly url: URL
  readonly token: string
  readonly run: Run
}

/** Starts `rlock page` for the server, with these further arguments. */
export async function servePageOf(redis: string, ...args: string[]): Promise<Served> {
  const run = await start(['page', '--redis', redis, '--no-open', '--json', ...args])
  await waitUntil('it has printed its address', () => run.out.includes('\n'))
  const url = new URL(JSON.parse(run.out).address)
  return { url, token: url.hash.slice(1), run }
}
