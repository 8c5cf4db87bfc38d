import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

const ROOT = join(__dirname, '../../..')
const SOURCES = ['src', 'packages/testing/src']
/** What a seed cannot determine. */
const CHANCE =
  /\b(Math\.random|randomUUID|randomBytes|Date\.now|performance\.now|new Date\(\)|(from|require\() ?'node:timers)/
const MAY = ['src/util/random.ts', 'src/util/timers.ts']

describe('Sources of chance', () => {
  it('Only src/util/random.ts and timers.ts read the time or draw a number (guarantee 1)', () => {
    const files = SOURCES.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => `${folder}/${file}`),
    )
    expect(files.length).to.be.greaterThan(100)
    const found = files.filter(
      (file) => !MAY.includes(file) && CHANCE.test(withoutComments(readFileSync(join(ROOT, file), 'utf8'))),
    )
    expect(found).to.deep.equal([])
    for (const file of MAY) expect(readFileSync(join(ROOT, file), 'utf8')).to.match(CHANCE)
  })
})

function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\/\/.*/g, '')
}
