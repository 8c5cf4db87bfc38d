import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { expect } from 'chai'
import { rejection } from '../kit/clients'
import { clientAndRedis, name, redisson } from '../kit/each-test'

async function* rows() {
  yield 1
}

const lazy: [string, () => unknown, RegExp][] = [
  ['an async generator', rows, /for await/],
  ['a stream', () => Readable.from([1]), /for await/],
  ['a web stream', () => new ReadableStream(), /for await/],
  ['a promise of a stream', async () => Readable.from([1]), /for await/],
  ['an Observable', () => ({ subscribe() {}, pipe() {} }), /lastValueFrom/],
]

describe('A function under a lock that returns before its work begins', () => {
  clientAndRedis('lazy')

  const sections: [string, (fn: () => unknown) => Promise<unknown>][] = [
    ['withLock()', (fn) => redisson.getLock(name).withLock(fn)],
    ['withLock() of a multi lock', (fn) => redisson.getMultiLock(redisson.getLock(name)).withLock(fn)],
    ['withLock() of a token lock', (fn) => redisson.getTokenLock(name).withLock(fn)],
    ['runOnce()', (fn) => redisson.runOnce(name, fn, { atLeast: 1 })],
    [
      'withPermits()',
      async (fn) => {
        await redisson.getSemaphore(name).trySetPermits(1)
        return await redisson.getSemaphore(name).withPermits(fn)
      },
    ],
    [
      'withPermit()',
      async (fn) => {
        await redisson.getPermitExpirableSemaphore(name).trySetPermits(1)
        return await redisson.getPermitExpirableSemaphore(name).withPermit(fn)
      },
    ],
  ]
  for (const [call, section] of sections)
    for (const [what, fn, advice] of lazy)
      it(`${call} refuses ${what} as a result, and releases`, async () => {
        let given: unknown
        const error = await rejection(
          section(async () => {
            given = await fn()
            return given
          }),
        )
        expect(error).to.be.instanceOf(TypeError)
        expect(error.message).to.match(advice)
        expect((error as Error & { result?: unknown }).result).to.equal(given)
        expect(redisson.stats().held).to.equal(0)
        await section(() => [what])
      })

  it('A stream that can be written to, as an Express response, is a result like any other', async () => {
    const server = createServer((_, response) => {
      redisson.getLock(name).withLock((): ServerResponse => response.end('done'))
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    try {
      const { port } = server.address() as AddressInfo
      expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).to.equal('done')
    } finally {
      server.closeAllConnections()
      server.close()
    }
    const strict = new Proxy(
      {},
      { get: (_, member) => (member === 'then' ? undefined : expect.fail('asked')) },
    )
    expect((await redisson.getLock(name).withLock(() => strict)) === strict).to.equal(true)
    const through = new PassThrough()
    expect(await redisson.getLock(name).withLock(() => through)).to.equal(through)
    expect(await redisson.getLock(name).withLock(() => [new Map()])).to.deep.equal([new Map()])
  })
})
