import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

interface Locked {
  readonly engines?: { readonly node?: string }
  readonly hasInstallScript?: boolean
  readonly optional?: boolean
  readonly resolved?: string
}

const read = (file: string) => JSON.parse(readFileSync(join(__dirname, '../..', file), 'utf8'))
const packages = Object.entries<Locked>(read('package-lock.json').packages).filter(([path]) =>
  path.startsWith('node_modules/'),
)

describe('npm ci on Node 20', () => {
  it('npm ci on Node 20 finds no package that needs a newer Node', () => {
    const newer = packages.filter(([, { engines }]) => {
      const least = /^(?:>=|\^|~)\s*v?(\d+)/.exec(engines?.node ?? '')?.[1]
      return Number(least) > 20 && !engines?.node?.includes('||')
    })
    expect(newer.map(([path]) => path)).to.deep.equal([])
  })

  it('npm ci on Node 20 finds in package.json which install scripts may run', () => {
    const { allowScripts } = read('package.json')
    const names = packages
      // npm names no script of a package that this system does not take.
      .filter(([, { hasInstallScript, optional }]) => hasInstallScript && !optional)
      .map(([path]) => path.replace(/^.*node_modules\//, ''))
    expect(names).to.not.deep.equal([])
    for (const name of names) expect(allowScripts, name).to.have.property(name)
  })
})
