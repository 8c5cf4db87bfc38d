import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { build } from 'esbuild'
import { sharedStandalone } from '../servers'
import { uniqueName } from '../support/clients'
import { InstalledPackage, repository, runTool } from './installed-package'

const PUBLIC = [
  'IllegalMonitorStateError',
  'LockLostError',
  'LockNotReplicatedError',
  'RedissonError',
  'RedissonShutdownError',
  'RedisUnavailableError',
  'TimeUnit',
  'Redisson',
  'WrongTypeError',
].sort()

describe('the installed package', function () {
  this.timeout(180_000)

  let installed: InstalledPackage
  let url: string

  before(async () => {
    url = (await sharedStandalone()).url
    installed = await InstalledPackage.install()
  })
  after(() => installed?.remove())

  it('carries what users need and nothing else', () => {
    const top = readdirSync(installed.directory)
    expect(top).to.include.members(['LICENSE', 'dist', 'lua', 'package.json'])
    expect(top).not.to.include.members(['src', 'test', 'node_modules', 'compat'])
  })

  // From here on there are no lua files: whatever runs below must bring its scripts along.
  it('works without its lua files', async () => {
    rmSync(join(installed.directory, 'lua'), { recursive: true })
    const script = `
      const { Redisson } = require('rlock')
      Redisson.create({ redis: ${JSON.stringify(url)} }).then(async (redisson) => {
        const result = await redisson.getLock(${JSON.stringify(uniqueName())}).withLock(() => 'inside')
        await redisson.shutdown()
        console.log(JSON.stringify(result))
      })`
    expect(await installed.run('no-lua.cjs', script)).to.equal('inside')
  })

  it('shares everything between import and require', async () => {
    const script = `
      import { createRequire } from 'node:module'
      import * as esm from 'rlock'
      const cjs = createRequire(import.meta.url)('rlock')
      const redis = ${JSON.stringify(url)}
      const imported = await esm.Redisson.create({ redis })
      const required = await cjs.Redisson.create({ redis })
      const name = ${JSON.stringify(uniqueName())}
      const held = await cjs.Redisson.prototype.run.call(required, async () => {
        const first = await imported.getLock(name).acquire()
        const again = await imported.getLock(name).tryAcquire()
        const threadIds = [first.threadId, again?.threadId]
        await again?.unlock()
        await first.unlock()
        return threadIds
      })
      const threadIds = []
      for (let times = 0; times < 5; times++)
        for (const client of [imported, required])
          await client.getLock(name).withLock((hold) => { threadIds.push(hold.threadId) })
      const error = await required.getLock(name).unlock().catch((error) => error)
      await Promise.all([imported.shutdown(), required.shutdown()])
      console.log(JSON.stringify({
        exported: Object.keys(esm).sort(),
        same: Object.keys(cjs).filter((key) => cjs[key] === esm[key]).sort(),
        reentered: held[0] === held[1],
        distinct: new Set(threadIds).size,
        instance: error instanceof esm.IllegalMonitorStateError && required instanceof esm.Redisson,
      }))`
    expect(await installed.run('both.mjs', script)).to.deep.equal({
      exported: PUBLIC,
      same: PUBLIC,
      reentered: true,
      distinct: 10,
      instance: true,
    })
  })

  it('shares threads and their ids with a second copy of itself', async () => {
    const copy = join(installed.project, 'plugin/node_modules/rlock')
    cpSync(installed.directory, copy, { recursive: true })
    const script = `
      const one = require('rlock')
      const two = require('./plugin/node_modules/rlock')
      const redis = ${JSON.stringify(url)}
      async function main() {
        const clients = await Promise.all([one, two].map(({ Redisson }) => Redisson.create({ redis })))
        const name = ${JSON.stringify(uniqueName())}
        const reentered = await clients[0].run(async () => {
          const lock = clients[1].getLock(name)
          await lock.lock()
          const again = await lock.tryLock()
          await lock.unlock()
          await lock.unlock()
          return again
        })
        const threadIds = []
        for (const client of [...clients, ...clients])
          await client.getLock(name).withLock((hold) => { threadIds.push(hold.threadId) })
        await Promise.all(clients.map((client) => client.shutdown()))
        console.log(JSON.stringify({
          copies: one.Redisson !== two.Redisson,
          reentered,
          distinct: new Set(threadIds).size,
        }))
      }
      main()`
    expect(await installed.run('copies.cjs', script)).to.deep.equal({
      copies: true,
      reentered: true,
      distinct: 4,
    })
  })

  it('lets nobody reach its internals', async () => {
    const script = `
      import { createRequire } from 'node:module'
      const require = createRequire(import.meta.url)
      const paths = ['rlock/dist/client.js', 'rlock/dist/index.js', 'rlock/lua/lock/acquire.lua', 'rlock/src']
      const codes = []
      for (const path of paths) {
        codes.push(await import(path).then(() => 'found', (error) => error.code))
        try { require(path); codes.push('found') } catch (error) { codes.push(error.code) }
      }
      console.log(JSON.stringify([...new Set(codes)]))`
    expect(await installed.run('internals.mjs', script)).to.deep.equal(['ERR_PACKAGE_PATH_NOT_EXPORTED'])
  })

  it('can be bundled into one file that needs nothing beside it', async () => {
    const entry = join(installed.project, 'app.mjs')
    writeFileSync(
      entry,
      `import { Redisson } from 'rlock'
       Redisson.create({ redis: ${JSON.stringify(url)} }).then(async (client) => {
         const other = await Redisson.create({ redis: ${JSON.stringify(url)} })
         const held = await client.getLock(${JSON.stringify(uniqueName())}).acquire()
         const waiting = other.getLock(held.lockName).acquire()
         await held.unlock()
         await (await waiting).unlock()
         await Promise.all([client.shutdown(), other.shutdown()])
         console.log(JSON.stringify('bundled'))
       })`,
    )
    const alone = join(installed.project, '../', `rlock-bundle-${process.pid}`)
    mkdirSync(alone)
    try {
      await build({
        entryPoints: [entry],
        outfile: join(alone, 'app.cjs'),
        bundle: true,
        platform: 'node',
        format: 'cjs',
        minify: true,
        logLevel: 'silent',
      })
      expect(existsSync(join(alone, 'node_modules'))).to.equal(false)
      const moved = Object.assign(Object.create(installed), { project: alone }) as InstalledPackage
      expect(await moved.run('start.cjs', "require('./app.cjs')")).to.equal('bundled')
    } finally {
      rmSync(alone, { recursive: true })
    }
  })

  it('compiles for strict TypeScript consumers, as ES module and as CommonJS', async () => {
    const source = `
      import { type LockHold, LockLostError, type RLock, Redisson, type RedissonOptions, TimeUnit } from 'rlock'
      const options: RedissonOptions = { redis: { host: 'localhost', db: 1 }, lockWatchdogTimeout: 30_000 }
      export async function work(signal: AbortSignal): Promise<number> {
        await using redisson: Redisson = await Redisson.create(options)
        redisson.on('lockLost', ({ lockName, reason }) => console.log(lockName, reason satisfies string))
        const lock: RLock = redisson.getLock('order')
        if (await lock.tryLock(1, 10, TimeUnit.SECONDS)) await lock.unlock()
        const held: LockHold | undefined = await lock.tryAcquire({ waitTime: 5, signal })
        await held?.unlock()
        // @ts-expect-error a name is a string
        redisson.getLock(1)
        // @ts-expect-error what connects is create()
        new Redisson()
        return await lock.withLock(async (hold: LockHold) => hold.threadId).catch((error: unknown) => {
          if (error instanceof LockLostError) return Number(error.result)
          throw error
        })
      }`
    const { project } = installed
    writeFileSync(join(project, 'consumer.mts'), source)
    writeFileSync(join(project, 'consumer.cts'), source)
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2022', 'esnext.disposable'],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      verbatimModuleSyntax: false,
      noEmit: true,
      types: ['node'],
      typeRoots: [join(repository, 'node_modules/@types')],
    }
    const files = ['consumer.mts', 'consumer.cts']
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    await runTool('tsc', ['-p', '.'], project)
  })

  it('is found faultless by publint', async () => {
    const report = await runTool('publint', ['run', '--strict', installed.tarball], installed.project)
    expect(report).to.contain('All good!')
  })

  it('is found faultless by arethetypeswrong', async () => {
    const report = await runTool('attw', ['--no-color', '--no-emoji', installed.tarball], installed.project)
    expect(report).to.contain('No problems found')
  })
})

describe('the lock file', () => {
  it('names no registry, so that everybody installs from their own', () => {
    const { packages } = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8'))
    const pinned = Object.entries<{ resolved?: string }>(packages).filter(([, { resolved }]) => resolved)
    expect(pinned).to.deep.equal([])
  })
})
