import type { LockHold, Redisson, RLock } from '../../src/index'

/** A handler of a web framework that passes requests on by `next`. */
export type Handler = (
  request: { readonly params: Record<string, string> },
  response: { once(event: 'close', listener: () => void): unknown; end(text?: string): void },
  next: (error?: unknown) => void,
) => unknown

/** What the examples of the pages may use without saying where it comes from. */
export interface Given {
  readonly redisson: Redisson
  /** `redisson.getLock('order:42')`. */
  readonly lock: RLock
  readonly order: { readonly id: number }
  readonly items: readonly number[]
  /** The addresses of three servers, which are three databases of one server here. */
  readonly urls: readonly [string, string, string]
  /** The work of the application. */
  readonly charge: (order: { id: number }, options?: { signal?: AbortSignal }) => Promise<void>
  readonly ship: (order: { id: number }) => Promise<void>
  readonly book: (item: number) => Promise<void>
  readonly read: () => Promise<void>
  readonly change: () => Promise<void>
  readonly work: (signal?: AbortSignal) => Promise<void>
  readonly transfer: (signal?: AbortSignal) => Promise<void>
  readonly report: (signal?: AbortSignal) => Promise<void>
  readonly sendReport: (hold?: LockHold) => Promise<void>
  /** Writes where the resource itself looks at the token. */
  readonly save: (order: { id: number }, token: number) => Promise<void>
  readonly log: { warn(...what: unknown[]): void; error(...what: unknown[]): void }
  /** Something like an application of Express; `request()` sends it one. */
  readonly app: { use(handler: Handler): void; get(path: string, handler: Handler): void }
  readonly request: () => Promise<string>
}

async function nothing(): Promise<void> {}

export function given(redisson: Redisson, url: string): Given {
  const handlers: Handler[] = []
  return {
    redisson,
    lock: redisson.getLock('order:42'),
    order: { id: 42 },
    items: [1, 2, 3],
    urls: [`${url}/0`, `${url}/1`, `${url}/2`],
    charge: nothing,
    ship: nothing,
    book: nothing,
    read: nothing,
    change: nothing,
    work: nothing,
    transfer: nothing,
    report: nothing,
    sendReport: nothing,
    save: nothing,
    log: { warn() {}, error() {} },
    app: {
      use: (handler) => handlers.push(handler),
      get: (_path, handler) => handlers.push(handler),
    },
    request: () => answer(handlers),
  }
}

/** Sends one request through the handlers; resolves with what the last of them answers. */
function answer(handlers: readonly Handler[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const closed: (() => void)[] = []
    const response = {
      once: (_event: 'close', listener: () => void) => closed.push(listener),
      end: (text = '') => {
        for (const each of closed) each()
        resolve(text)
      },
    }
    const call = (at: number) => (error?: unknown) => {
      if (error) return reject(error)
      const request = { params: { id: '42' } }
      Promise.resolve(handlers[at]?.(request, response, call(at + 1))).catch(reject)
    }
    call(0)()
  })
}
