import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { Redisson } from '../../src/index'
import { createRedisson, uniqueName } from '../kit/clients'
import { startStandalone } from '../kit/servers/index'

const PAGE = readFileSync(join(__dirname, '../../docs/guides/multi-lock.md'), 'utf8')
const EXAMPLES = [...PAGE.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code!)
const AsyncFunction = (async () => {}).constructor as new (
  ...args: string[]
) => (...args: unknown[]) => Promise<unknown>

describe('docs/guides/multi-lock.md', () => {
  it('The example of a multi lock runs', async () => {
    const redisson = await createRedisson()
    let signal: AbortSignal | undefined
    const transfer = async (given: AbortSignal) => {
      signal = given
    }
    const example = EXAMPLES[0]!.replaceAll('account:', `${uniqueName('account')}:`)
    const run = new AsyncFunction('redisson', 'transfer', `${example}\nreturn result`)
    expect(await run(redisson, transfer)).to.equal('transferred')
    expect(signal!.aborted).to.equal(false)
  })

  it('The example of a RedLock runs', async () => {
    const servers = await Promise.all([1, 2, 3].map(() => startStandalone()))
    const opened: Redisson[] = []
    const create = async (options: { redis: string }) => {
      const redisson = await Redisson.create(options)
      opened.push(redisson)
      return redisson
    }
    let reports = 0
    try {
      const run = new AsyncFunction('Redisson', 'urls', 'report', EXAMPLES[1]!)
      await run(
        { create },
        servers.map(({ url }) => url),
        async () => reports++,
      )
    } finally {
      await Promise.all(opened.map((redisson) => redisson.shutdown()))
      await Promise.all(servers.map((server) => server.stop()))
    }
    expect(reports).to.equal(1)
  })
})
