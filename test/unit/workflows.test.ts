import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

const ROOT = join(__dirname, '../..')
const WORKFLOWS = join(ROOT, '.github/workflows')
const workflow = (file: string) => readFileSync(join(WORKFLOWS, file), 'utf8')

describe('The workflows', () => {
  it('Each action is pinned by the commit of a release', () => {
    const used = readdirSync(WORKFLOWS).flatMap((file) => workflow(file).match(/uses: .+/g) ?? [])
    expect(used).to.have.length.above(5)
    expect(used.filter((each) => !/^uses: [\w/-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(each))).to.deep.equal(
      [],
    )
  })

  it('Every package is published, and CI runs the same dry', () => {
    const all = '--workspaces --include-workspace-root'
    expect(workflow('publish.yml')).to.match(
      new RegExp(`npm publish --provenance --access public ${all}$`, 'm'),
    )
    expect(workflow('ci.yml')).to.match(new RegExp(`npm publish --dry-run --access public ${all}$`, 'm'))
    const { workspaces } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(workspaces).to.deep.equal(['packages/*'])
    for (const name of readdirSync(join(ROOT, 'packages'))) {
      const described = JSON.parse(readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8'))
      expect(described.private, name).to.equal(undefined)
      expect(described.publishConfig, name).to.deep.equal({ access: 'public' })
    }
  })
})
