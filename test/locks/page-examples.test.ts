import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { Redisson } from '../../src/index'
import { createRedisson } from '../kit/clients'
import { freshServer } from '../kit/servers/index'

const AsyncFunction = (async () => {}).constructor as new (
  ...source: string[]
) => (...args: unknown[]) => Promise<unknown>

/** The examples of a page of docs/guides, in their order. */
function examplesOf(page: string): string[] {
  const text = readFileSync(join(__dirname, '../../docs/guides', page), 'utf8')
  return [...text.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code]) => code!)
}

describe('Examples that need more than a client', () => {
  it('The first example of docs/guides/fenced-lock.md runs as it stands', async () => {
    let worked = 0
    const run = new AsyncFunction('redisson', 'writeBalance', examplesOf('fenced-lock.md')[0]!)
    await run(await createRedisson(), async () => worked++)
    expect(worked).to.equal(1)
  })

  it('The example of a RedLock in docs/guides/multi-lock.md runs', async () => {
    const servers = await Promise.all([1, 2, 3].map(() => freshServer()))
    const opened: Redisson[] = []
    const create = async (options: { redis: string }) => {
      const redisson = await Redisson.create(options)
      opened.push(redisson)
      return redisson
    }
    let reports = 0
    const run = new AsyncFunction('Redisson', 'urls', 'report', examplesOf('multi-lock.md')[1]!)
    try {
      await run(
        { create },
        servers.map(({ url }) => url),
        async () => reports++,
      )
    } finally {
      await Promise.all(opened.map((redisson) => redisson.shutdown()))
    }
    expect(reports).to.equal(1)
  })
})
