import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect } from 'chai'
import { type BuildOptions, build } from 'esbuild'
import { uniqueName } from '../kit/clients'
import { sharedStandalone } from '../kit/servers/index'
import { InstalledPackage, nestPackages, repository } from './installed-package'

/**
 * An app that imports the package, bundled into one ES module. Run by package.test.ts: two files at once would build
 * `dist` over each other.
 */
export function esmBundleSuite() {
  describe('An app bundled by esbuild as an ES module', function () {
    this.timeout(180_000)

    let installed: InstalledPackage
    let url: string
    /** Where bundles run; what is not bundled is here, and nothing else is. */
    let alone: string

    before(async () => {
      url = (await sharedStandalone()).url
      installed = await InstalledPackage.install(['nestjs', 'recipes'], nestPackages())
    })
    after(() => installed?.remove())
    beforeEach(() => {
      alone = realpathSync(mkdtempSync(join(tmpdir(), 'rlock-bundle-')))
      mkdirSync(join(alone, 'node_modules'))
    })
    afterEach(() => rmSync(alone, { recursive: true }))

    /** Bundles this source and runs it where only these packages are; resolves with what it printed as JSON. */
    async function bundled(
      source: string,
      packages: readonly string[],
      options: BuildOptions,
    ): Promise<unknown> {
      const entry = join(installed.project, 'app.mjs')
      writeFileSync(entry, source)
      const outfile = join(alone, 'bundle.mjs')
      await build({
        entryPoints: [entry],
        outfile,
        bundle: true,
        platform: 'node',
        format: 'esm',
        logLevel: 'silent',
        ...options,
      })
      for (const name of packages)
        symlinkSync(join(installed.project, 'node_modules', name), join(alone, 'node_modules', name), 'dir')
      const moved = Object.assign(Object.create(installed), { project: alone }) as InstalledPackage
      return await moved.run('start.mjs', "await import('./bundle.mjs')")
    }

    const locking = () => `
      import { IllegalMonitorStateError, LockLostError, Redisson, TimeUnit } from 'rlock'
      const redis = ${JSON.stringify(url)}
      const [client, other] = await Promise.all([Redisson.create({ redis }), Redisson.create({ redis })])
      const held = await client.getLock(${JSON.stringify(uniqueName())}).acquire()
      const waiting = other.getLock(held.lockName).tryAcquire({ waitTime: TimeUnit.SECONDS.toMillis(10) })
      await held.unlock()
      await (await waiting).unlock()
      const error = await client.getLock(held.lockName).unlock().catch((error) => error)
      await Promise.all([client.shutdown(), other.shutdown()])
      console.log(JSON.stringify({
        locked: true,
        error: error instanceof IllegalMonitorStateError && !(error instanceof LockLostError),
      }))`

    it('An ES module bundle runs with ioredis left out, and only then needs no require', async () => {
      expect(await bundled(locking(), ['ioredis'], { external: ['ioredis'] })).to.deep.equal({
        locked: true,
        error: true,
      })
      expect(readFileSync(join(alone, 'bundle.mjs'), 'utf8')).to.not.match(/__require\("/)
    })

    it('An ES module bundle runs with ioredis inside by the banner that the guide shows', async () => {
      const banner = /--banner:js="([^"]+)"/.exec(
        readFileSync(join(repository, 'docs/guides/runtimes.md'), 'utf8'),
      )?.[1]
      expect(banner, 'the banner in the guide').to.be.a('string')
      expect(await bundled(locking(), [], { banner: { js: banner! } })).to.deep.equal({
        locked: true,
        error: true,
      })
    })

    it('An ES module bundle has one copy for import and require, shared with an installed one', async () => {
      const source = `
        import { createRequire } from 'node:module'
        import * as esm from 'rlock'
        const bundled = require('rlock')
        const own = createRequire(import.meta.url)('rlock')
        const redis = ${JSON.stringify(url)}
        const clients = [await esm.Redisson.create({ redis }), await own.Redisson.create({ redis })]
        const name = ${JSON.stringify(uniqueName())}
        const reentered = await clients[0].run(async () => {
          const lock = clients[1].getLock(name)
          await lock.lock()
          const again = await lock.tryLock(1, esm.TimeUnit.SECONDS)
          await lock.unlock()
          await lock.unlock()
          return again
        })
        const threadIds = []
        for (const client of [...clients, ...clients])
          await client.getLock(name).withLock((hold) => { threadIds.push(hold.threadId) })
        await Promise.all(clients.map((client) => client.shutdown()))
        console.log(JSON.stringify({
          one: Object.keys(esm).every((key) => esm[key] === bundled[key]),
          copies: esm.Redisson !== own.Redisson,
          reentered,
          distinct: new Set(threadIds).size,
        }))`
      const packages = ['ioredis', 'rlock', 'eventemitter3', 'async-mutex', 'cluster-key-slot']
      expect(await bundled(source, packages, { external: ['ioredis'] })).to.deep.equal({
        one: true,
        copies: true,
        reentered: true,
        distinct: 4,
      })
    })

    it('An ES module bundle has one copy of the package, shared with @rlock/nestjs', async () => {
      for (const name of ['@nestjs', 'reflect-metadata', 'rxjs'])
        symlinkSync(join(repository, 'node_modules', name), join(alone, 'node_modules', name), 'dir')
      const source = `
        import { Redisson } from 'rlock'
        import { getRedissonToken } from '@rlock/nestjs'
        console.log(JSON.stringify(getRedissonToken() === Redisson))`
      const external = ['ioredis', '@nestjs/common', '@nestjs/core', 'reflect-metadata']
      expect(await bundled(source, ['ioredis'], { external })).to.equal(true)
    })

    it('An ES module bundle has one copy of the package, shared with @rlock/recipes', async () => {
      const source = `
        import { Redisson } from 'rlock'
        import { takeSlot } from '@rlock/recipes'
        const redisson = await Redisson.create({ redis: ${JSON.stringify(url)} })
        const { index } = await takeSlot(redisson, ${JSON.stringify(uniqueName())}, 3)
        await redisson.shutdown({ timeout: 0 })
        console.log(JSON.stringify(index))`
      expect(await bundled(source, ['ioredis'], { external: ['ioredis'] })).to.equal(0)
    })

    it('The package exports from its ES module what CommonJS exports, by the same names', async () => {
      const { exports } = JSON.parse(readFileSync(join(installed.directory, 'package.json'), 'utf8'))
      for (const file of [exports['.'].module, './dist/rlock.js'])
        cpSync(join(installed.directory, file), join(alone, basename(file)))
      for (const name of ['ioredis', 'eventemitter3', 'async-mutex', 'cluster-key-slot'])
        symlinkSync(join(installed.project, 'node_modules', name), join(alone, 'node_modules', name), 'dir')
      const moved = Object.assign(Object.create(installed), { project: alone }) as InstalledPackage
      const names = await moved.run(
        'names.mjs',
        `
        import * as module from './module.mjs'
        console.log(JSON.stringify(Object.keys(module).sort()))`,
      )
      const own = await installed.run(
        'names.cjs',
        "console.log(JSON.stringify(Object.keys(require('rlock')).sort()))",
      )
      expect(names).to.deep.equal(own)
    })
  })
}
