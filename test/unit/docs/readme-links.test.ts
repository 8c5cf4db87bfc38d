import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
// @ts-expect-error: a script without declarations
import { readmeLinks } from '../../../scripts/readme-links.mjs'

const ROOT = join(__dirname, '../../..')
const packages = readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}`)

describe('The links of a packed README', () => {
  for (const folder of ['.', ...packages])
    it(`The README of ${folder} is packed with links that need no docs/ beside it`, () => {
      const read = (file: string) => readFileSync(join(ROOT, folder, file), 'utf8')
      const described = JSON.parse(read('package.json'))
      expect(described.scripts.prepack).to.contain('readme-links.mjs absolute')
      expect(described.scripts.postpack).to.contain('readme-links.mjs relative')
      const links = readmeLinks(described)
      const packed: string = links.absolute(read('README.md'))
      const targets = [...packed.matchAll(/\]\(([^)\s]+)\)|\b(?:src|srcset|href)="([^"]+)"/g)].map(
        ([, markdown, html]) => (markdown ?? html)!,
      )
      expect(targets.filter((target) => !/^(https:|#)/.test(target))).to.deep.equal([])
      for (const target of targets) {
        const [, file] = /\/v[\d.]+\/([^#]*)/.exec(target) ?? []
        if (file) expect(existsSync(join(ROOT, file)), target).to.equal(true)
      }
      expect(links.relative(packed)).to.equal(read('README.md'))
    })
})
