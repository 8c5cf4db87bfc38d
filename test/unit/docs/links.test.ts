import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect } from 'chai'
// @ts-expect-error: a script without declarations
import { readmeLinks } from '../../../scripts/readme-links.mjs'
import { pages, textOf } from '../../kit/docs/pages'

const ROOT = join(__dirname, '../../..')
const packages = readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}`)

/** Pages that are written elsewhere at this moment: links to them are left alone. Empty this list when they are here. */
const COMING: string[] = []
const OTHERS = [
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'test/README.md',
  'tools/simulator/README.md',
  'llms.txt',
]
const checked = [...pages(), ...OTHERS]

interface Link {
  readonly page: string
  readonly target: string
}

/** Links and images in Markdown and in HTML, but for those in code. */
function linksIn(page: string): Link[] {
  const text = textOf(page)
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/`[^`\n]*`/g, '')
  const found = [...text.matchAll(/\]\(([^)\s]+)\)|\b(?:src|srcset|href)="([^"]+)"/g)]
  return found.map(([, markdown, html]) => ({ page, target: (markdown ?? html)! }))
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): string[] {
  const text = textOf(page).replace(/^```[\s\S]*?^```/gm, '')
  const seen = new Map<string, number>()
  return [...text.matchAll(/^#+ +(.+)$/gm)].map(([, heading]) => {
    const anchor = heading!
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    const times = seen.get(anchor) ?? 0
    seen.set(anchor, times + 1)
    return times === 0 ? anchor : `${anchor}-${times}`
  })
}

/** What is wrong with a link, or undefined. */
function faultOf({ page, target }: Link): string | undefined {
  if (/^(https?|mailto):/.test(target)) return undefined
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? page : normalize(join(dirname(page), path))
  if (COMING.includes(file)) return undefined
  if (!existsSync(join(ROOT, file))) return `${page}: no file ${target}`
  if (anchor !== undefined && !anchorsOf(file).includes(anchor)) return `${page}: no heading ${target}`
  return undefined
}

describe('The links of the pages', () => {
  for (const page of checked)
    it(`The links of ${page} lead to files and headings that are there`, () => {
      expect(linksIn(page).map(faultOf).filter(Boolean)).to.deep.equal([])
    })

  it('The links of the pages lead from docs/README.md to every page of docs/', () => {
    const reached = new Set(['README.md'])
    for (const page of reached)
      if (page.endsWith('.md') && existsSync(join(ROOT, page)))
        for (const { target } of linksIn(page))
          if (!/^\w+:|^#/.test(target)) reached.add(normalize(join(dirname(page), target.split('#')[0]!)))
    expect(checked.filter((page) => !reached.has(page) && page.startsWith('docs/'))).to.deep.equal([])
  })

  it("The README's links have an address on the registry: package.json names one repository", () => {
    const { repository, homepage, bugs } = JSON.parse(textOf('package.json'))
    const [, place] = /^git\+(https:\/\/github\.com\/[\w-]+\/[\w-]+)\.git$/.exec(repository.url) ?? []
    expect(place).to.be.a('string')
    expect([homepage, bugs]).to.deep.equal([`${place}#readme`, `${place}/issues`])
  })

  it('The commands of CONTRIBUTING that run some tests of a file find some there', () => {
    const commands = [...textOf('CONTRIBUTING.md').matchAll(/^npx mocha (\S+)(?: +-g "([^"]+)")?/gm)]
    expect(commands.map(([, , title]) => title).filter(Boolean)).to.not.be.empty
    for (const [, file, title = ''] of commands) expect(textOf(file!), file).to.contain(title)
  })

  it('The links of the pages that are let through lead to pages that are not here yet', () => {
    expect(COMING.filter((page) => existsSync(join(ROOT, page)))).to.deep.equal([])
  })

  it('The links of the pages are found wrong where a file or a heading is missing', () => {
    const page = 'docs/README.md'
    expect(faultOf({ page, target: 'missing.md' })).to.equal('docs/README.md: no file missing.md')
    expect(faultOf({ page, target: '#missing' })).to.equal('docs/README.md: no heading #missing')
    expect(faultOf({ page, target: '../README.md' })).to.equal(undefined)
  })
})

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
