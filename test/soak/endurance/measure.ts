import { startStandalone } from '../../kit/servers/index'
import { inClientProcess } from './client-process'
import type { Order, Result } from './messages'
import type { Programs } from './programs'
import { ServerWatch } from './server-watch'

/** Does and measures one part, on a server of its own. */
export async function measure(
  order: Order,
  programs: Programs,
  onProgress: (text: string) => void = () => {},
): Promise<{ result: Result; serverVersion: string }> {
  const server = await startStandalone()
  const watch = new ServerWatch(server.url)
  try {
    const { answers } = watch
    const result = await inClientProcess({ programs, redis: server.url, order, answers, onProgress })
    return { result, serverVersion: await watch.version() }
  } finally {
    watch.close()
    await server.stop()
  }
}
