import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect } from 'chai'

const ROOT = join(__dirname, '../..')

// biome.json has the rules of imports: dependencies under src/ point downwards, no cycles, which top-level folder may
// import which, and which files of test/kit/ a spec of test/unit/ may not need. Here is what its patterns cannot say.

interface Import {
  readonly from: string
  readonly to: string
}

function filesIn(folder: string, extension: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true })
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return filesIn(path, extension)
    return path.endsWith(extension) ? [path] : []
  })
}

function importsOf(from: string): Import[] {
  const source = readFileSync(join(ROOT, from), 'utf8')
  const specifiers = source.matchAll(/(?:\bfrom|\bimport|\bimport\(|\brequire\()\s*['"](\.[^'"]*)['"]/g)
  return [...specifiers].map(([, specifier]) => ({ from, to: normalize(join(dirname(from), specifier!)) }))
}

const isInKitOrSource = ({ to }: Import) => /^(test\/kit|src|packages\/testing\/src)(\/|$)/.test(to)

interface BiomeConfig {
  readonly overrides: readonly {
    readonly includes: readonly string[]
    readonly linter: { readonly rules: { readonly style?: { readonly noRestrictedImports?: object } } }
  }[]
}

describe('The rules that lint cannot say', () => {
  it('A file of test/kit/ imports src/ and test/kit/ only', () => {
    const imports = filesIn('test/kit', '.ts').flatMap(importsOf)
    expect(imports.length).to.be.greaterThan(0)
    expect(imports.filter((each) => !isInKitOrSource(each))).to.deep.equal([])
    expect(isInKitOrSource({ from: 'test/kit/clients.ts', to: 'test/soak/chaos/run' })).to.equal(false)
  })

  it('Each folder of src/ has its place among the layers of biome.json', () => {
    const { overrides } = JSON.parse(readFileSync(join(ROOT, 'biome.json'), 'utf8')) as BiomeConfig
    const layers = overrides.flatMap(({ includes, linter }) =>
      linter.rules.style?.noRestrictedImports ? includes : [],
    )
    const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((each) =>
      each.isDirectory(),
    )
    expect(layers).to.include.members(folders.map(({ name }) => `src/${name}/**`))
  })

  it('A Lua script has 300 lines at most', () => {
    const long = filesIn('lua', '.lua').filter(
      (file) => readFileSync(join(ROOT, file), 'utf8').split('\n').length > 300,
    )
    expect(long).to.deep.equal([])
  })
})
