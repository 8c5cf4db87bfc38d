import { clientAndRedis, redis, redisson } from '../../../test/kit/each-test'
import 'reflect-metadata'
import { setTimeout as sleep } from 'node:timers/promises'
import { Inject, Injectable, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { Test } from '@nestjs/testing'
import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { Redisson } from 'rlock'
import { createRedisson, rejection, uniqueName } from '../../../test/kit/clients'
import { internalsOf } from '../../../test/kit/internals'
import { sharedStandalone, waitUntil } from '../../../test/kit/servers/index'
import { getRedissonToken, InjectRedisson, RedissonModule, WithLock } from '../src/index'

const name = uniqueName('nest-module')

@Injectable()
class Service {
  constructor(
    @Inject(Redisson) readonly main: Redisson,
    @InjectRedisson('audit') readonly audit: Redisson,
  ) {}

  @WithLock(() => name, { client: 'audit' })
  async work(): Promise<string[]> {
    return [this.main, this.audit].flatMap((client) => client.holds().map(({ owner }) => owner))
  }
}

@Module({ providers: [Service], exports: [Service] })
class Feature {}

/** Holds a lock for so long; what it resolves with is a function, so that the section can be awaited later. */
async function hold(redisson: Redisson, duration: number): Promise<() => Promise<string>> {
  const acquired = await redisson.getLock(uniqueName()).acquire()
  const section = sleep(duration).then(() => acquired.unlock())
  section.catch(() => {})
  return () => section.then(() => 'released')
}

/** How many connections of this name the server has. */
async function countOf(redis: Redis, connectionName: string): Promise<number> {
  const list = (await redis.client('LIST')) as string
  return list.split('\n').filter((line) => line.includes(` name=${connectionName}:`)).length
}

/** Runs what docs/guides/nestjs.md says of the module. */
describe('RedissonModule', () => {
  clientAndRedis()
  let url: string
  before(async () => {
    url = (await sharedStandalone()).url
  })

  it('All modules see several clients, also of a factory, and shut them down (U7)', async () => {
    @Module({ providers: [{ provide: 'URL', useFactory: () => url }], exports: ['URL'] })
    class Config {}
    const module = await Test.createTestingModule({
      imports: [
        RedissonModule.forRoot({ redis: url }),
        RedissonModule.forRootAsync({
          name: 'audit',
          imports: [Config],
          inject: ['URL'],
          useFactory: async (redis: string) => ({ redis }),
        }),
        Feature,
      ],
    }).compile()
    const { main, audit, work } = module.get(Service)
    expect(main).to.be.instanceOf(Redisson)
    expect(audit).to.be.instanceOf(Redisson).and.not.equal(main)
    expect(module.get(getRedissonToken())).to.equal(main)
    expect(module.get(getRedissonToken('audit'))).to.equal(audit)
    const owners = await work.call(module.get(Service))
    expect(owners).to.have.length(1)
    expect(owners[0]).to.contain(audit.getId())
    await module.close()
    for (const client of [main, audit])
      expect(await rejection(client.getLock(name).lock())).to.have.property('code', 'REDISSON_SHUTDOWN')
  })

  it('A client that is not global is seen by the modules that import it only', async () => {
    // Clients of the test: those of an application that does not start stay open.
    const local = RedissonModule.forRoot({ redisson: await createRedisson(), isGlobal: false })
    const audit = RedissonModule.forRoot({ redisson: await createRedisson(), name: 'audit' })
    expect(
      String(await rejection(Test.createTestingModule({ imports: [local, audit, Feature] }).compile())),
    ).to.contain('Redisson')
    const module = await Test.createTestingModule({ imports: [local, audit], providers: [Service] }).compile()
    expect(await module.get(Service).work()).to.have.length(1)
    await module.close()
  })

  it('The end of a Nest application waits for held locks, for shutdownTimeout at most', async () => {
    const forRoot = (options: { shutdownTimeout?: number }) =>
      Test.createTestingModule({ imports: [RedissonModule.forRoot({ redis: url, ...options })] }).compile()
    const patient = await forRoot({})
    let section = await hold(patient.get(Redisson), 700)
    await patient.close()
    expect(await section()).to.equal('released')
    const hasty = await forRoot({ shutdownTimeout: 20 })
    section = await hold(hasty.get(Redisson), 700)
    await hasty.close()
    expect(await rejection(section())).to.have.property('code', 'REDISSON_SHUTDOWN')
  })

  it('A client of the caller is not shut down (U7)', async () => {
    const module = await Test.createTestingModule({
      imports: [RedissonModule.forRoot({ redisson })],
    }).compile()
    expect(module.get(Redisson)).to.equal(redisson)
    await module.close()
    expect(await redisson.getLock(name).withLock(() => 'inside')).to.equal('inside')
  })

  it('A connection of the caller is not closed (U7)', async () => {
    const module = await Test.createTestingModule({ imports: [RedissonModule.forRoot({ redis })] }).compile()
    expect(
      await module
        .get(Redisson)
        .getLock(name)
        .withLock(() => 'inside'),
    ).to.equal('inside')
    await module.close()
    expect(await redis.ping()).to.equal('PONG')
  })

  it("Client events go to the application's logger, unless logEvents is false (V37, V48)", async () => {
    const logged: string[] = []
    const note = (level: string) => (message: unknown) => {
      logged.push(`${level}: ${message}`)
    }
    for (const logEvents of [undefined, false]) {
      const module = await Test.createTestingModule({
        imports: [RedissonModule.forRoot({ redis: url, logEvents })],
      })
        .setLogger({ log() {}, warn: note('warn'), error: note('error') })
        .compile()
      const { events } = internalsOf(module.get(Redisson))
      events.emit('error', new Error('an outage'))
      events.emit('renewalFailed', { lockName: 'orders', error: new Error('no answer') } as never)
      events.emit('lockLost', { error: new Error('a loss') } as never)
      events.emit('permitLost', { error: new Error('a lost permit') } as never)
      // A name that would turn the line around, or end it (V48).
      events.emit('renewalFailed', { lockName: 'a\u202e\u0085', error: new Error('no answer') } as never)
      await module.close()
    }
    expect(logged).to.deep.equal([
      'warn: an outage',
      'warn: The renewal of the lock "orders" failed: no answer',
      'error: a loss',
      'error: a lost permit',
      'warn: The renewal of the lock "a\\u202e\\u0085" failed: no answer',
    ])
  })

  it('A client that a test overrides is never created, and its options are never asked for (V37)', async () => {
    let asked = 0
    const double = { getLock: () => ({ withLock: (fn: () => unknown) => fn() }), holds: () => [] }
    const module = await Test.createTestingModule({
      imports: [
        RedissonModule.forRoot({ redis: 'redis://127.0.0.1:1' }),
        RedissonModule.forRootAsync({
          name: 'audit',
          useFactory: () => ({ redis: `redis://127.0.0.1:${++asked}` }),
        }),
        Feature,
      ],
    })
      .overrideProvider(getRedissonToken())
      .useValue(double)
      .overrideProvider(getRedissonToken('audit'))
      .useValue(double)
      .compile()
    expect(await module.get(Service).work()).to.deep.equal([])
    await module.close()
    expect(asked).to.equal(0)
  })

  // `deep-hash` is the algorithm of Nest 10.
  for (const moduleIdGeneratorAlgorithm of ['deep-hash', 'reference'] as const)
    it(`Two modules that are not global have a client each, ids by ${moduleIdGeneratorAlgorithm} (V37)`, async () => {
      const clients = [await createRedisson(), await createRedisson()]
      const importers = clients.map((redisson) => {
        @Injectable()
        class Holder {
          constructor(@Inject(Redisson) readonly redisson: Redisson) {}
        }
        @Module({
          imports: [RedissonModule.forRoot({ redisson, isGlobal: false })],
          providers: [Holder],
          exports: [Holder],
        })
        class Importer {
          static readonly Holder = Holder
        }
        return Importer
      })
      @Module({ imports: importers })
      class App {}
      const app = await NestFactory.createApplicationContext(App, {
        logger: false,
        abortOnError: false,
        moduleIdGeneratorAlgorithm,
      })
      expect(importers.map(({ Holder }) => app.get(Holder).redisson)).to.deep.equal(clients)
      await app.close()
    })

  it('An application does not start with two global clients of one name (V37)', async () => {
    const clients = [await createRedisson(), await createRedisson()]
    for (const name of [undefined, 'audit']) {
      const imports = clients.map((redisson) => RedissonModule.forRoot({ redisson, name }))
      const refused = await rejection(Test.createTestingModule({ imports }).compile())
      expect(refused).to.be.instanceOf(TypeError)
      expect(String(refused)).to.contain(name ?? 'without a name')
    }
  })

  it('A client whose neighbour cannot be opened is shut down with the start that failed (V37)', async () => {
    let opened = 0
    const connectionName = uniqueName('nest-neighbour').replaceAll(':', '-')
    const { hostname: host, port } = new URL(url)
    const start = Test.createTestingModule({
      imports: [
        RedissonModule.forRoot({ redis: { host, port: Number(port), connectionName } }),
        RedissonModule.forRootAsync({
          name: 'audit',
          inject: [Redisson],
          useFactory: async () => {
            opened = await countOf(redis, connectionName)
            return { redis: 'redis://127.0.0.1:1' }
          },
        }),
      ],
    }).compile()
    expect(await rejection(start)).to.have.property('code', 'REDIS_UNAVAILABLE')
    expect(opened).to.be.greaterThan(0)
    await waitUntil('its connections are closed', async () => (await countOf(redis, connectionName)) === 0)
  })

  it('No application starts where options make no sense or Redis is away (V37)', async () => {
    const starting = (options: unknown) =>
      rejection(Test.createTestingModule({ imports: [RedissonModule.forRoot(options as never)] }).compile())
    expect(await starting({ redis: url, lockWatchdog: 1 })).to.be.instanceOf(TypeError)
    for (const wrong of [
      { redis: url, shutdownTimeout: '10000' },
      { redis: url, shutdownTimeout: Number.NaN },
      { redis: url, shutdownTimeout: -1 },
      { redis: url, logEvents: 'false' },
      { redisson: undefined },
      { redisson: 'redis://h' },
    ])
      expect(String(await starting(wrong)), JSON.stringify(wrong)).to.match(
        /^(TypeError|RangeError): (shutdownTimeout|logEvents|redisson) /,
      )
    expect(await starting({ redis: 'redis://127.0.0.1:1' })).to.have.property('code', 'REDIS_UNAVAILABLE')
    const nothing = RedissonModule.forRootAsync({ useFactory: () => undefined as never })
    expect(await rejection(Test.createTestingModule({ imports: [nothing] }).compile())).to.be.instanceOf(
      TypeError,
    )
  })

  it('A double stands in for the client', async () => {
    const double = { getLock: () => ({ withLock: (fn: () => unknown) => fn() }), holds: () => [] }
    const module = await Test.createTestingModule({
      imports: [
        RedissonModule.forRoot({ redisson: double as never }),
        RedissonModule.forRoot({ redisson: double as never, name: 'audit' }),
        Feature,
      ],
    }).compile()
    expect(await module.get(Service).work()).to.deep.equal([])
    await module.close()
  })
})
