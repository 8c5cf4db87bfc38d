import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { createRedisson } from '../kit/clients'

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
})
