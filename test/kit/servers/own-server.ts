import { type Standalone, type StandaloneOptions, startStandalone } from './standalone'

/** To be called in a `describe`: a server for its tests alone. Its properties are there once they run. */
export function ownServer(options?: StandaloneOptions): Standalone {
  const server = {} as Standalone
  before(async () => {
    const started = await startStandalone(options)
    Object.assign(server, started)
    const methods = Object.getPrototypeOf(started)
    for (const name of Object.getOwnPropertyNames(methods))
      Object.defineProperty(server, name, { get: () => methods[name].bind(started), configurable: true })
  })
  after(() => server.stop?.())
  return server
}
