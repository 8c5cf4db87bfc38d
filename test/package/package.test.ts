import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { build } from 'esbuild'
import { uniqueName } from '../kit/clients'
import { sharedStandalone } from '../kit/servers/index'
import { contentsSuite } from './contents'
import { definitionsSuite } from './definitions'
import { esmBundleSuite } from './esm-bundle'
import { InstalledPackage, repository, runTool } from './installed-package'
import { packagesSuite } from './packages'

const PUBLIC = [
  'FencingTokenError',
  'IllegalMonitorStateError',
  'LockLostError',
  'LockNotReplicatedError',
  'LockQuorumError',
  'LockTimeoutError',
  'PermitNotHeldError',
  'RateNotSetError',
  'RateType',
  'RedissonError',
  'RedissonLifecycle',
  'RedissonShutdownError',
  'RedisRefusedError',
  'RedisUnavailableError',
  'TimeUnit',
  'Redisson',
  'WrongTypeError',
  'constantBackOff',
  'exponentialBackOff',
].sort()

describe('The installed package', function () {
  this.timeout(180_000)

  let installed: InstalledPackage
  let url: string

  before(async () => {
    url = (await sharedStandalone()).url
    installed = await InstalledPackage.install()
  })
  after(() => installed?.remove())

  it('The installed package shares everything between import and require', async () => {
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
        exported: Object.keys(esm).filter((key) => key !== 'default' && key !== 'module.exports').sort(),
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

  it('The installed package shares threads and their ids with a second copy of itself', async () => {
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

  it('The internals of the installed package cannot be imported', async () => {
    const script = `
      import { createRequire } from 'node:module'
      const require = createRequire(import.meta.url)
      const paths = ['rlock/dist/client.js', 'rlock/dist/index.js', 'rlock/lua/lock/acquire.lua', 'rlock/src', 'rlock/testing']
      const codes = []
      for (const path of paths) {
        codes.push(await import(path).then(() => 'found', (error) => error.code))
        try { require(path); codes.push('found') } catch (error) { codes.push(error.code) }
      }
      console.log(JSON.stringify([...new Set(codes)]))`
    expect(await installed.run('internals.mjs', script)).to.deep.equal(['ERR_PACKAGE_PATH_NOT_EXPORTED'])
  })

  it('The installed package can be bundled into one file that needs nothing beside it', async () => {
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

  it('The installed package compiles for strict consumers, as ES module and CommonJS', async () => {
    const source = `
      import { type LockHold, LockLostError, type RLock, Redisson, type RedissonOptions, type ShutdownOptions, TimeUnit } from 'rlock'
      const options: RedissonOptions = { redis: { host: 'localhost', db: 1 }, lockWatchdogTimeout: 30_000 }
      export const ending: ShutdownOptions = { timeout: undefined }
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
    cpSync(installed.directory, join(project, 'plugin/node_modules/rlock'), { recursive: true })
    const plugin = `
      import { TimeUnit } from 'rlock'
      export const SECONDS = TimeUnit.SECONDS`
    writeFileSync(join(project, 'plugin/units.mts'), plugin)
    const twoCopies = `
      import { type RLock, TimeUnit } from 'rlock'
      import { SECONDS } from './plugin/units.mjs'
      export const taken = (lock: RLock): Promise<boolean> => lock.tryLock(1, SECONDS)
      export const either: TimeUnit[] = [TimeUnit.DAYS, SECONDS]`
    writeFileSync(join(project, 'two-copies.mts'), twoCopies)
    const files = ['consumer.mts', 'consumer.cts', 'two-copies.mts']
    await installed.compile(files, { exactOptionalPropertyTypes: true, verbatimModuleSyntax: false })
  })

  it('The installed package is found faultless by publint', async () => {
    const report = await runTool('publint', ['run', '--strict', installed.tarball], installed.project)
    expect(report).to.contain('All good!')
  })

  it('The installed package is found faultless by arethetypeswrong', async () => {
    // rlock/internal has no declarations on purpose.
    const report = await runTool(
      'attw',
      ['--no-color', '--no-emoji', installed.tarball, '--exclude-entrypoints', 'internal'],
      installed.project,
    )
    expect(report).to.contain('No problems found')
  })
})

contentsSuite()
definitionsSuite()
esmBundleSuite()
packagesSuite()

describe('The lock file', () => {
  it('The lock file of npm names no registry, so that every user installs from their own', () => {
    const { packages } = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8'))
    const pinned = Object.entries<{ resolved?: string; link?: boolean }>(packages).filter(
      ([, { resolved, link }]) => resolved && !link,
    )
    expect(pinned).to.deep.equal([])
  })
})
