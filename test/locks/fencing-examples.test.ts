import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { sharedStandalone } from '../kit/servers/index'

const ROOT = join(__dirname, '../..')
const EXAMPLES = { 'fencing-sql': 70, 'fencing-redis': 'second' }

describe('The examples of fencing', () => {
  for (const [name, last] of Object.entries(EXAMPLES))
    it(`The example ${name} lets the newest holder write, refuses the others (F4)`, async () => {
      const { url } = await sharedStandalone()
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--import', 'tsx', join(ROOT, 'examples', `${name}.ts`)],
        { cwd: ROOT, env: { ...process.env, REDIS_URL: url } },
      )
      expect(stdout.trim().split('\n').slice(0, 4)).to.deep.equal([
        'B writes: true',
        'A writes too late: false',
        'B writes again: true',
        'Another holder with the token of B writes: false',
      ])
      expect(stdout.trim()).to.match(new RegExp(`: ${last}$`))
    })

  for (const name of Object.keys(EXAMPLES))
    it(`docs/guides/fenced-lock.md shows the fence of the example ${name} as it is (F4)`, () => {
      const example = readFileSync(join(ROOT, 'examples', `${name}.ts`), 'utf8')
      const fence = /\/\/ region fence\n(.*?)\n *\/\/ endregion/s.exec(example)![1]!
      const indent = /^ */.exec(fence)![0]
      const shown = fence.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
      expect(readFileSync(join(ROOT, 'docs/guides/fenced-lock.md'), 'utf8')).to.contain(shown)
    })
})
