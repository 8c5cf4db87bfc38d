import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { uniqueName } from '../kit/clients'
import { sharedStandalone } from '../kit/servers/index'
import { InstalledPackage, manifest, nestPackages, runTool } from './installed-package'
import { compileNestConsumer } from './nest-consumer'

const PACKAGES = ['nestjs', 'opentelemetry', 'recipes', 'redisson-config', 'testing']
/** A program, which nothing imports. */
const CLI = 'cli'
/** The packages beside rlock. Run by package.test.ts: two files at once would build `dist` over each other. */
export function packagesSuite() {
  describe('The packages beside rlock', function () {
    this.timeout(240_000)

    let installed: InstalledPackage

    before(async () => {
      const api = '@opentelemetry/api'
      const beside = [...nestPackages(), `${api}@${manifest(`node_modules/${api}`).version}`]
      installed = await InstalledPackage.install([...PACKAGES, CLI], beside)
    })
    after(() => installed?.remove())

    it('The packages beside rlock have its version and need that version of it', () => {
      const { version, dependencies, peerDependencies } = manifest('.')
      expect(Object.keys(dependencies!)).to.have.lengthOf(4)
      expect(peerDependencies).to.equal(undefined)
      for (const name of [...PACKAGES, CLI]) {
        const own = manifest(`packages/${name}`)
        expect(own.version, name).to.equal(version)
        // It imports nothing of rlock: it observes the channels, which change with a major version only.
        if (name === 'opentelemetry')
          expect(Object.keys(own.peerDependencies!)).to.deep.equal(['@opentelemetry/api'])
        else expect(own.peerDependencies?.rlock, name).to.equal(version)
      }
    })

    it('The packages beside rlock bring README, license, declarations and sources', () => {
      for (const name of PACKAGES) {
        const files = readFileSync(
          join(installed.project, `node_modules/@rlock/${name}/package.json`),
          'utf8',
        )
        expect(JSON.parse(files).name).to.equal(`@rlock/${name}`)
        const declarations = installed.text(`@rlock/${name}/dist/index.d.ts`)
        expect(declarations, name).to.not.match(/rlock\/internal|\.\.\//)
        const { sources } = JSON.parse(installed.text(`@rlock/${name}/dist/index.d.ts.map`))
        for (const source of sources) expect(installed.text(`@rlock/${name}/dist/${source}`)).to.not.equal('')
        expect(installed.text(`@rlock/${name}/README.md`)).to.match(new RegExp(`^# @rlock/${name}\n`))
        expect(installed.text(`@rlock/${name}/LICENSE`)).to.contain('MIT')
      }
    })

    it('@rlock/redisson-config reads a configuration, and is the same for import and require', async () => {
      const reading = `
        import { createRequire } from 'node:module'
        import * as esm from '@rlock/redisson-config'
        const cjs = createRequire(import.meta.url)('@rlock/redisson-config')
        const text = 'singleServerConfig: { address: "redis://h:6379" }'
        console.log(JSON.stringify({
          exported: Object.keys(esm),
          same: esm.fromRedissonConfig === cjs.fromRedissonConfig,
          options: esm.fromRedissonConfig(text).options,
        }))`
      expect(await installed.run('yaml.mjs', reading)).to.deep.equal({
        exported: ['fromRedissonConfig'],
        same: true,
        options: { redis: { host: 'h', port: 6379 } },
      })
    })

    it("@rlock/nestjs starts an application with rlock's classes, by import and require", async () => {
      const { url } = await sharedStandalone()
      const starting = `
        import { createRequire } from 'node:module'
        import * as esm from '@rlock/nestjs'
        import { Redisson } from 'rlock'
        const require = createRequire(import.meta.url)
        const cjs = require('@rlock/nestjs')
        const { NestFactory } = require('@nestjs/core')
        const redis = ${JSON.stringify(url)}
        const app = await NestFactory.createApplicationContext(esm.RedissonModule.forRoot({ redis }), { logger: false })
        const result = await app.get(Redisson).getLock(${JSON.stringify(uniqueName())}).withLock(() => 'inside')
        await app.close()
        console.log(JSON.stringify({ exported: Object.keys(esm), same: esm.WithLock === cjs.WithLock, result }))`
      expect(await installed.run('nest.mjs', starting)).to.deep.equal({
        exported: [
          'InjectRedisson',
          'LockTimeoutFilter',
          'RedissonModule',
          'RunOnce',
          'WithLock',
          'getRedissonToken',
        ],
        same: true,
        result: 'inside',
      })
      await compileNestConsumer(installed)
    })

    it('@rlock/opentelemetry observes clients, imports only the API, by import and require', async () => {
      const { url } = await sharedStandalone()
      const observing = `
        import { createRequire } from 'node:module'
        import * as esm from '@rlock/opentelemetry'
        import { Redisson } from 'rlock'
        const require = createRequire(import.meta.url)
        const cjs = require('@rlock/opentelemetry')
        const { ProxyTracerProvider } = require('@opentelemetry/api')
        const names = []
        const proxy = new ProxyTracerProvider()
        const tracer = { startSpan: (name) => { names.push(name); return proxy.getTracer('none').startSpan(name) } }
        const instrumentation = esm.instrument({ tracerProvider: { getTracer: () => tracer } })
        const redisson = await Redisson.create({ redis: ${JSON.stringify(url)} })
        await redisson.getLock(${JSON.stringify(uniqueName())}).withLock(() => {})
        instrumentation.disable()
        await redisson.shutdown()
        console.log(JSON.stringify({ exported: Object.keys(esm), same: esm.instrument === cjs.instrument, names }))`
      expect(await installed.run('opentelemetry.mjs', observing)).to.deep.equal({
        exported: ['instrument'],
        same: true,
        names: ['lock.acquire', 'lock.hold'],
      })
      const code = installed.text('@rlock/opentelemetry/dist/index.js')
      const required = [...code.matchAll(/\brequire\(["']([^"']+)["']\)/g)].map(([, from]) => from)
      expect([...new Set(required)].sort()).to.deep.equal(['@opentelemetry/api', 'node:diagnostics_channel'])
    })

    it("@rlock/recipes takes a slot with rlock's client, the same by import and require", async () => {
      const { url } = await sharedStandalone()
      const taking = `
        import { createRequire } from 'node:module'
        import * as esm from '@rlock/recipes'
        import { Redisson } from 'rlock'
        const cjs = createRequire(import.meta.url)('@rlock/recipes')
        const redisson = await Redisson.create({ redis: ${JSON.stringify(url)} })
        const slot = await cjs.takeSlot(redisson, ${JSON.stringify(uniqueName())}, 3)
        await slot.release()
        await redisson.shutdown()
        const { idempotencyKey } = await import('@rlock/recipes/express')
        console.log(JSON.stringify({
          exported: Object.keys(esm),
          same: esm.elect === cjs.elect,
          index: slot.index,
          middleware: typeof idempotencyKey(redisson),
        }))`
      expect(await installed.run('recipes.mjs', taking)).to.deep.equal({
        exported: ['InFlightError', 'KeyReusedError', 'elect', 'once', 'takeSlot'],
        same: true,
        index: 0,
        middleware: 'function',
      })
      // A framework is what its user has, and rlock and its classes of errors are there once.
      const shared = ['@rlock/recipes', 'node:crypto', 'rlock', 'rlock/internal']
      for (const entry of ['express', 'fastify', 'hono', 'nest']) {
        const code = installed.text(`@rlock/recipes/dist/${entry}.js`)
        const required = [...code.matchAll(/\brequire\(["']([^"']+)["']\)/g)].map(([, from]) => from)
        expect([...new Set(required)].sort(), entry).to.deep.equal(shared)
      }
    })

    it("@rlock/testing has rlock's errors, loads Lua late, the same by import and require", async () => {
      const script = `
        import { createRequire } from 'node:module'
        import { Redisson, RedisUnavailableError } from 'rlock'
        import { inMemoryRedis } from '@rlock/testing'
        const require = createRequire(import.meta.url)
        const same = require('@rlock/testing').inMemoryRedis === inMemoryRedis
        const hasLua = () => Object.keys(require.cache).some((file) => file.includes('wasmoon'))
        const redis = inMemoryRedis()
        const before = hasLua()
        const client = await Redisson.create({ redis })
        const result = await client.getLock('order').withLock(() => 'inside')
        await client.shutdown()
        redis.pause()
        const failing = Redisson.create({ redis }).catch((error) => error)
        await redis.advance(10_000)
        const isOurs = (await failing) instanceof RedisUnavailableError
        console.log(JSON.stringify({ same, before, after: hasLua(), result, isOurs }))`
      expect(await installed.run('testing.mjs', script)).to.deep.equal({
        same: true,
        before: false,
        after: true,
        result: 'inside',
        isOurs: true,
      })
    })

    it('@rlock/cli is the command `rlock`, which finds a lock, and nothing that can be imported', async () => {
      const { url } = await sharedStandalone()
      const name = uniqueName()
      const running = `
        const { execFileSync } = require('node:child_process')
        const { Redisson } = require('rlock')
        const { bin } = require('@rlock/cli/package.json')
        Redisson.create({ redis: ${JSON.stringify(url)} }).then(async (client) => {
          const found = await client.getLock(${JSON.stringify(name)}).withLock(() =>
            execFileSync('node_modules/.bin/rlock', ['ls', ${JSON.stringify(name)}, '--json', '--redis', ${JSON.stringify(url)}], { encoding: 'utf8' }))
          await client.shutdown()
          let code
          try { require('@rlock/cli') } catch (error) { code = error.code }
          console.log(JSON.stringify({ bin, name: JSON.parse(found).name, code }))
        })`
      expect(await installed.run('cli.cjs', running)).to.deep.equal({
        bin: { rlock: './dist/rlock.js' },
        name,
        code: 'ERR_PACKAGE_PATH_NOT_EXPORTED',
      })
      expect(installed.text('@rlock/cli/README.md')).to.match(/^# @rlock\/cli\n/)
      const tarball = installed.tarballs.find((file) => file.includes('rlock-cli-'))!
      expect(await runTool('publint', ['run', '--strict', tarball], installed.project)).to.contain(
        'All good!',
      )
    })

    it('rlock/internal is the code that rlock has loaded, by import and by require', async () => {
      const script = `
        import { createRequire } from 'node:module'
        import { RedisUnavailableError } from 'rlock'
        import { systemClock, withTimeout } from 'rlock/internal'
        const internal = createRequire(import.meta.url)('rlock/internal')
        console.log(JSON.stringify({
          same: internal.systemClock === systemClock && internal.withTimeout === withTimeout,
          isPublic: 'RedisUnavailableError' in internal,
        }))`
      expect(await installed.run('internal.mjs', script)).to.deep.equal({ same: true, isPublic: false })
    })

    it('The packages beside rlock compile for strict consumers, as ES modules and CommonJS', async () => {
      const source = `
        import { Redisson, type RedissonOptions } from 'rlock'
        import { type FromRedissonConfig, fromRedissonConfig } from '@rlock/redisson-config'
        import { type Instrumentation, type InstrumentOptions, instrument } from '@rlock/opentelemetry'
        import { type Election, elect, once, type Slot, takeSlot } from '@rlock/recipes'
        import { idempotencyKey } from '@rlock/recipes/express'
        import { type InMemoryRedis, inMemoryRedis } from '@rlock/testing'
        const observing: InstrumentOptions = { group: (name, kind) => (kind === 'lock' ? name : undefined) }
        export const observed: Instrumentation = instrument(observing)
        const carried: FromRedissonConfig = fromRedissonConfig('threads: 16')
        export const lost: string[] = carried.notCarriedOver.map(({ name }) => name)
        export const inMemory: InMemoryRedis = inMemoryRedis({ now: () => 0 })
        export const tested: RedissonOptions = { redis: inMemory }
        export const clients = [Redisson.create(tested), Redisson.create(carried.options)]
        export async function recipes(redisson: Redisson) {
          const election: Election = elect(redisson, 'x', { onElected: ({ term }) => term })
          const slot: Slot = await takeSlot(redisson, 'x', 3)
          const { value } = await once(redisson, 'x', () => slot.index, { keep: 1 })
          return [election.term, value satisfies number, idempotencyKey(redisson, { required: true })]
        }`
      for (const file of ['consumer.mts', 'consumer.cts'])
        writeFileSync(join(installed.project, file), source)
      await installed.compile(['consumer.mts', 'consumer.cts'], { exactOptionalPropertyTypes: true })
    })

    for (const name of PACKAGES)
      it(`@rlock/${name} is found faultless by publint and by arethetypeswrong`, async () => {
        const tarball = installed.tarballs.find((file) => file.includes(`rlock-${name}-`))!
        expect(await runTool('publint', ['run', '--strict', tarball], installed.project)).to.contain(
          'All good!',
        )
        const report = await runTool('attw', ['--no-color', '--no-emoji', tarball], installed.project)
        expect(report).to.contain('No problems found')
      })
  })
}
