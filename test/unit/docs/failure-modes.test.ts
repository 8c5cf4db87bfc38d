import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { textOf } from '../../kit/docs/pages'

const ROOT = join(__dirname, '../../..')
const PAGE = textOf('docs/internals/failure-modes.md')
const FOUND = [...PAGE.matchAll(/^- V(\d+): (.+)$/gm)].map(([, row, what]) => ({
  row: Number(row),
  what: what!,
}))

describe('The page of failure modes', () => {
  it('The page of failure modes has findings in order, in lines of at most 20 words', () => {
    const rows = FOUND.map(({ row }) => row)
    expect(rows).to.deep.equal([...new Set(rows)].sort((one, other) => one - other))
    expect(FOUND.filter(({ what }) => what.split(/\s+/).length > 20)).to.deep.equal([])
  })

  it('The page of failure modes has every line that a title of a test cites', () => {
    const titles = ['test', 'compat', 'packages', 'tools'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && !file.includes('node_modules') && !file.includes('/dist/'))
        .flatMap(
          (file) =>
            readFileSync(join(ROOT, folder, file), 'utf8').match(/\b(?:it|describe)\(\s*(['"`]).*?\1,/gs) ??
            [],
        ),
    )
    const cited = new Set(
      titles.flatMap((title) => [...title.matchAll(/[(,] ?(V\d+)(?=[,)])/g)].map(([, row]) => row!)),
    )
    expect(cited.size).to.be.above(50)
    const missing = [...cited].filter((row) => !PAGE.includes(`\n- ${row}: `))
    expect(missing).to.deep.equal([])
  })
})
