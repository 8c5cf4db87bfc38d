import { closedAfterEach } from '../closing'
import { startCluster } from './cluster'
import { startSentinel } from './sentinel'
import { startStandalone } from './standalone'

interface Stoppable {
  stop(): Promise<void>
}

type Start<Options, T> = (options?: Options) => Promise<T>

/** To be called in a `describe`: servers for its tests alone. Its properties are there once they run. */
export const ownServer = own(startStandalone)
export const ownCluster = own(startCluster)
export const ownSentinel = own(startSentinel)

/** To be called in a test, or in a hook before each one: servers that are stopped after it, and after its clients. */
export const freshServer = fresh(startStandalone)
export const freshCluster = fresh(startCluster)
export const freshSentinel = fresh(startSentinel)

/** For a `describe`: what `start` starts is there for its tests, and `stop` ends it. */
export function own<Options, T extends object>(
  start: Start<Options, T>,
  stop = (started: T): unknown => (started as unknown as Stoppable).stop(),
): (options?: Options) => T {
  return (options) => {
    const servers = {} as T
    before(async function () {
      const started = await start(options)
      Object.assign(servers, started)
      for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(started))) {
        const get = () => {
          const value = started[name as keyof T]
          return typeof value === 'function' ? value.bind(started) : value
        }
        Object.defineProperty(servers, name, { get, configurable: true })
      }
      // Entered last, so that it runs when the other hooks have closed their connections.
      this.test!.parent!.afterAll(() => stop(started))
    })
    return servers
  }
}

const running: Stoppable[] = []
closedAfterEach('server', async () => {
  await Promise.all(running.splice(0).map((each) => each.stop()))
})

function fresh<Options, T extends Stoppable>(start: Start<Options, T>): Start<Options, T> {
  return async (options) => {
    const started = await start(options)
    running.push(started)
    return started
  }
}
