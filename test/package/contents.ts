import { readdirSync, readFileSync, statSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { expect } from 'chai'
import { uniqueName } from '../kit/clients'
import { sharedStandalone } from '../kit/servers/index'
import { InstalledPackage, repository } from './installed-package'

/** What is in the package. Run by package.test.ts: two files at once would build `dist` over each other. */
export function contentsSuite() {
  describe('The files of the installed package', function () {
    this.timeout(180_000)

    let installed: InstalledPackage
    const text = (file: string) => installed.text(`rlock/${file}`)

    before(async () => {
      installed = await InstalledPackage.install()
    })
    after(() => installed?.remove())

    it('The installed package has code, one file a way to load, and sources, nothing else', () => {
      expect(readdirSync(installed.directory).sort()).to.deep.equal([
        'LICENSE',
        'README.md',
        'dist',
        'package.json',
        'src',
      ])
      expect(readdirSync(join(installed.directory, 'dist')).sort()).to.deep.equal([
        'index.d.ts',
        'index.d.ts.map',
        'index.js',
        'internal.js',
        'internal.mjs',
        'module.mjs',
        'rlock.js',
        'rlock.js.map',
      ])
    })

    it('The declarations of the installed package are indented as a person would indent them', () => {
      const lines = text('dist/index.d.ts').split('\n')
      expect(lines.length).to.be.greaterThan(1000)
      expect(lines.filter((line) => /^ {9}/.test(line))).to.deep.equal([])
    })

    it('The files of the installed package bring the scripts of Redis along', async () => {
      const { url } = await sharedStandalone()
      const script = `
        const { Redisson } = require('rlock')
        Redisson.create({ redis: ${JSON.stringify(url)} }).then(async (redisson) => {
          const result = await redisson.getLock(${JSON.stringify(uniqueName())}).withLock(() => 'inside')
          await redisson.shutdown()
          console.log(JSON.stringify(result))
        })`
      expect(await installed.run('no-lua.cjs', script)).to.equal('inside')
    })

    it('The installed package loads Node and its dependencies only: no YAML, Nest or Lua', () => {
      const { dependencies } = JSON.parse(text('package.json'))
      expect(text('dist/rlock.js')).to.not.match(/\brequire\(/)
      const loaded = [...text('dist/index.js').matchAll(/\brequire\('([^'.][^']*)'\)/g)].map(
        ([, name]) => name!,
      )
      const isOfNode = (name: string) => builtinModules.includes(name.replace(/^node:/, ''))
      expect([...new Set(loaded)].filter((name) => !isOfNode(name)).sort()).to.deep.equal(
        Object.keys(dependencies).sort(),
      )
    })

    it('The installed package has one copy of the code, and a map that names the sources', () => {
      expect(text('dist/rlock.js')).to.contain('\n//# sourceMappingURL=rlock.js.map')
      const { sources } = JSON.parse(text('dist/rlock.js.map')) as { readonly sources: readonly string[] }
      expect(sources).to.have.lengthOf.greaterThan(1)
      for (const source of sources) {
        // What joins the two entries, and the scripts, whose text is in the code as it is.
        if (source === '../rlock.ts' || source.endsWith('/lua.generated.ts')) continue
        expect(source).to.match(/^\.\.\/src\//)
        const file = source.replace('../', '')
        expect(text(file), source).to.equal(readFileSync(join(repository, file), 'utf8'))
      }
    })

    it('The files of the installed package are no larger than the record of decisions says', () => {
      const record = readFileSync(join(repository, 'docs/internals/decisions/0009-one-code-file.md'), 'utf8')
      const limit = Number(/at most (\d+) kB packed/.exec(record)?.[1])
      expect(statSync(installed.tarball).size / 1_000).to.be.at.most(limit)
    })

    it('The installed package gives readable stack traces, and those of sources on request', async () => {
      const failing = `
        const { Redisson, TimeUnit } = require('rlock')
        Redisson.create({ redis: {} }).catch((error) => console.log(JSON.stringify([error.stack, Redisson.name, TimeUnit.name])))`
      const [stack, ...names] = (await installed.run('stack.cjs', failing)) as string[]
      expect(stack).to.match(/at (Function|Redisson)\.create \(.*[\\/]dist[\\/]rlock\.js:\d+:\d+\)/)
      expect(names).to.deep.equal(['Redisson', 'TimeUnit'])
      const [mapped] = (await installed.run(
        'mapped.cjs',
        `process.setSourceMapsEnabled(true)\n${failing}`,
      )) as string[]
      const line = readFileSync(join(repository, 'src/redisson.ts'), 'utf8')
        .split('\n')
        .findIndex((each) => each.includes('Client.connect(options'))
      expect(mapped).to.match(new RegExp(`src[\\\\/]redisson\\.ts:${line + 1}:`))
    })
  })
}
