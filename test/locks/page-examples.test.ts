import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { exponentialBackOff } from '../../src/index'
import { createRedisson } from '../kit/clients'

const DOCS = join(__dirname, '../../docs/guides')
/** The pages, as docs/guides/fenced-lock.md, and how often the example calls what it is given. */
const PAGES = { 'other-kinds': 1, 'token-lock': 2, 'fenced-lock': 1 }

describe('The examples of the pages of locks', () => {
  for (const [page, runs] of Object.entries(PAGES))
    it(`The first example of docs/guides/${page}.md runs as it stands`, async () => {
      const [, code = ''] = /^```ts\n(.*?)^```/ms.exec(readFileSync(join(DOCS, `${page}.md`), 'utf8')) ?? []
      let worked = 0
      const withoutImports = code.replace(/^import .*$/m, '')
      const work = async () => {
        worked++
      }
      const AsyncFunction = (async () => {}).constructor as new (
        ...source: string[]
      ) => (...args: unknown[]) => Promise<void>
      const example = new AsyncFunction(
        'redisson',
        'work',
        'writeBalance',
        'exponentialBackOff',
        withoutImports,
      )
      await example(await createRedisson(), work, work, exponentialBackOff)
      expect(worked).to.equal(runs)
    })
})
