import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

const SRC = join(__dirname, '../../../src')
/** What a seed cannot determine. */
const CHANCE =
  /\b(Math\.random|randomUUID|randomBytes|Date\.now|performance\.now|new Date\(\)|(from|require\() ?'node:timers)/
const MAY = ['util/random.ts', 'util/timers.ts']

describe('Sources of chance', () => {
  it('Only src/util/random.ts and src/util/timers.ts read the real time or draw a random number (guarantee 1)', () => {
    const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    )
    expect(files.length).to.be.greaterThan(100)
    const found = files.filter(
      (file) => !MAY.includes(file) && CHANCE.test(withoutComments(readFileSync(join(SRC, file), 'utf8'))),
    )
    expect(found).to.deep.equal([])
    for (const file of MAY) expect(readFileSync(join(SRC, file), 'utf8')).to.match(CHANCE)
  })
})

function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\/\/.*/g, '')
}
