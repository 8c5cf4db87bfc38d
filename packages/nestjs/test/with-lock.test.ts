import 'reflect-metadata'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  Controller,
  Get,
  type INestApplication,
  Injectable,
  Module,
  type OnModuleInit,
  Param,
  Scope,
  SetMetadata,
} from '@nestjs/common'
import { APP_FILTER } from '@nestjs/core'
import { Cron, CronExpression, ScheduleModule } from '@nestjs/schedule'
import { Test } from '@nestjs/testing'
import { expect } from 'chai'
import { LockTimeoutError, type Redisson } from 'rlock'
import { from, lastValueFrom } from 'rxjs'
import { createRedisson, rejection, uniqueName } from '../../../test/kit/clients'
import { openUntilTheEnd } from '../../../test/kit/closing'
import { sharedStandalone, waitUntil } from '../../../test/kit/servers/index'
import { LockTimeoutFilter, RedissonModule, RunOnce, WithLock } from '../src/index'

const name = uniqueName('nest')
const holders: string[] = []
/** Notes who is inside, and whether the lock is held meanwhile. */
let look: (part: string) => Promise<boolean>

async function inside(part: string): Promise<string> {
  if (await look(part)) holders.push(part)
  return `inside ${part}`
}

async function* generate() {
  yield await inside('lazy')
}

@Controller()
class Orders {
  @WithLock((id: string) => `${name}:${id}`)
  @Get('above/:id')
  @SetMetadata('role', 'above')
  async above(@Param('id') id: string): Promise<string> {
    return await inside(id)
  }

  @Get('below/:id')
  @SetMetadata('role', 'below')
  @WithLock((id: string) => `${name}:${id}`)
  async below(@Param('id') id: string): Promise<string> {
    return await inside(id)
  }

  @WithLock((id: string) => `${name}:${id}`)
  async missing(_id?: string): Promise<string> {
    return 'inside'
  }

  @Get('busy/:id')
  @WithLock((id: string) => `${name}:${id}`, { waitTime: 0, maxHoldTime: 60_000 })
  async busy(@Param('id') id: string): Promise<string> {
    return await inside(id)
  }

  @WithLock(() => `${name}:lazy`)
  // biome-ignore lint/suspicious/noExplicitAny: the types refuse it, and JavaScript has none
  lazy(): any {
    return generate()
  }

  @WithLock((...args: unknown[]) => args[0] as string)
  async anything(..._args: unknown[]): Promise<string> {
    return 'inside'
  }
}

@Injectable()
class Jobs implements OnModuleInit {
  ticks = { above: 0, below: 0, once: 0 }

  @WithLock(() => `${name}:bootstrap`)
  async onModuleInit(): Promise<void> {
    await inside('bootstrap')
  }

  @WithLock(() => `${name}:cron-above`)
  @Cron(CronExpression.EVERY_SECOND)
  async above(): Promise<void> {
    await inside('cron-above')
    this.ticks.above++
  }

  @Cron(CronExpression.EVERY_SECOND)
  @WithLock(() => `${name}:cron-below`)
  async below(): Promise<void> {
    await inside('cron-below')
    this.ticks.below++
  }

  @RunOnce(`${name}:once`, { atLeast: 60_000 })
  @Cron(CronExpression.EVERY_SECOND)
  async once(): Promise<void> {
    this.ticks.once++
  }
}

class Base {
  @WithLock(() => `${name}:base`)
  async work(): Promise<string> {
    return await inside('base')
  }
}

@Injectable({ scope: Scope.TRANSIENT })
class Derived extends Base {
  @WithLock(() => `${name}:derived`, { waitTime: 0 })
  async more(): Promise<string> {
    return await inside('derived')
  }
}

describe('@WithLock in Nest', () => {
  let observer: Redisson
  let app: INestApplication
  let address: string

  before(async () => {
    observer = await createRedisson()
    look = (part) => observer.getLock(`${name}:${part}`).isLocked()
    const { url } = await sharedStandalone()
    @Module({
      imports: [RedissonModule.forRoot({ redis: url }), ScheduleModule.forRoot()],
      controllers: [Orders],
      providers: [Jobs, Derived, { provide: APP_FILTER, useClass: LockTimeoutFilter }],
    })
    class App {}
    app = (await Test.createTestingModule({ imports: [App] }).compile()).createNestApplication()
    await app.listen(0, '127.0.0.1')
    address = await app.getUrl()
  })
  after(() => app?.close())
  openUntilTheEnd()

  for (const place of ['above', 'below'] as const) {
    it(`${place} @Get a route is served under the lock (U8)`, async () => {
      const response = await fetch(`${address}/${place}/${place}-1`)
      expect(await response.text()).to.equal(`inside ${place}-1`)
      expect(holders).to.include(`${place}-1`)
      expect(await observer.getLock(`${name}:${place}-1`).isLocked()).to.equal(false)
    })

    it(`${place} others' decorators the metadata, name and length stay (U8)`, () => {
      const method = Orders.prototype[place]
      expect(Reflect.getMetadata('role', method)).to.equal(place)
      expect(Reflect.getMetadata('path', method)).to.equal(`${place}/:id`)
      expect([method.name, method.length]).to.deep.equal([place, 1])
    })

    it(`${place} @Cron a job runs under the lock (U8)`, async () => {
      await waitUntil('the job ran', async () => app.get(Jobs).ticks[place] > 0)
      expect(holders).to.include(`cron-${place}`)
    })
  }

  it('@RunOnce runs a cron job at one tick of those within atLeast', async () => {
    const jobs = app.get(Jobs)
    await waitUntil('the job ran', async () => jobs.ticks.once > 0)
    const { above } = jobs.ticks
    await waitUntil('the next tick', async () => jobs.ticks.above > above)
    expect(jobs.ticks.once).to.equal(1)
  })

  it('A hook of the bootstrap runs under the lock (U8)', () => {
    expect(holders).to.include('bootstrap')
  })

  it('Calls with one name exclude each other, and calls with another do not wait', async () => {
    const hold = await observer.getLock(`${name}:a`).acquire()
    let entered = false
    const waiting = app
      .get(Orders)
      .above('a')
      .then(() => {
        entered = true
      })
    expect(await app.get(Orders).above('b')).to.equal('inside b')
    await sleep(50)
    expect(entered).to.equal(false)
    await hold.unlock()
    await waiting
  })

  it('A transient provider has the client, for its own methods and for inherited ones', async () => {
    const derived = await app.resolve(Derived)
    expect(await derived.work()).to.equal('inside base')
    expect(await derived.more()).to.equal('inside derived')
    expect(holders).to.include.members(['base', 'derived'])
  })

  it('A method that begins to work after its return is refused, as what an interceptor gets', async () => {
    expect((await rejection(app.get(Orders).lazy())).message).to.match(/for await/)
    expect(holders).to.not.include('lazy')
    const lock = observer.getLock(`${name}:intercepted`)
    const next = { handle: () => from([1]) }
    expect((await rejection(lock.withLock(() => next.handle()))).message).to.match(/lastValueFrom/)
    expect(await lock.withLock(() => lastValueFrom(next.handle()))).to.equal(1)
  })

  it('The options of withLock hold: past waitTime the call rejects', async () => {
    const hold = await observer.getLock(`${name}:derived`).acquire()
    const error = await rejection((await app.resolve(Derived)).more())
    expect(error).to.have.property('code', 'LOCK_TIMEOUT')
    await hold.unlock()
  })

  it('LockTimeoutFilter answers 409 to a request that waited too long, without the name', async () => {
    const hold = await observer.getLock(`${name}:taken`).acquire()
    const response = await fetch(`${address}/busy/taken`)
    expect(response.status).to.equal(409)
    expect(await response.text())
      .to.contain('Try again later')
      .and.not.contain(name)
    await hold.unlock()
    expect((await fetch(`${address}/busy/taken`)).status).to.equal(200)
    const host = { getType: () => 'rpc' } as never
    const error = new LockTimeoutError('busy', 'order')
    expect(() => new LockTimeoutFilter().catch(error, host)).to.throw(error)
  })

  it('A name without an argument, of an object or of nothing is a TypeError (U8)', async () => {
    const orders = app.get(Orders)
    expect(await rejection(orders.missing())).to.be.instanceOf(TypeError)
    for (const bad of [undefined, '', 5, `order:${{}}`, 'undefined', 'a:undefined:b'])
      expect(await rejection(orders.anything(bad)), String(bad)).to.be.instanceOf(TypeError)
    expect(await orders.anything(`${name}:undefinedness`)).to.equal('inside')
  })

  it('An object that Nest did not make says so', async () => {
    const error = await rejection(new Orders().above('1'))
    expect(error).to.be.instanceOf(TypeError)
    expect((error as Error).message).to.contain('Nest did not make this object')
  })

  it('What is no method of an object, and a key that is no function, is refused', () => {
    expect(() => WithLock('order' as never)).to.throw(TypeError)
    const decorator = WithLock(() => 'order')
    expect(() => decorator({}, 'x', undefined as never)).to.throw(TypeError)
    expect(() => decorator(class {}, 'x', { value: async () => {} })).to.throw(TypeError)
  })

  it('A module in which no client is visible does not start, and the error names what to import', async () => {
    const compiling = Test.createTestingModule({ providers: [Derived, Jobs] }).compile()
    expect(String(await rejection(compiling))).to.contain('Redisson')
  })
})
