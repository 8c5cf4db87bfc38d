import 'reflect-metadata'
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type BeforeApplicationShutdown,
  Controller,
  Get,
  type INestApplication,
  Inject,
  Injectable,
  Module,
} from '@nestjs/common'
import { Cron, CronExpression, ScheduleModule } from '@nestjs/schedule'
import { Test } from '@nestjs/testing'
import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { Redisson } from 'rlock'
import { openRedis, uniqueName } from '../../../test/kit/clients'
import { sharedStandalone, waitUntil } from '../../../test/kit/servers/index'
import { InjectRedisson, RedissonModule, WithLock } from '../src/index'

const name = uniqueName('nest-shutdown').replaceAll(':', '-')
const queue = new EventEmitter()
/** Longer than the application waits for requests. */
const AFTER_REQUESTS = 3_000
const inside = new Set<string>()
const done: string[] = []

async function section(part: string, ms: number): Promise<string> {
  if (inside.has(part)) return 'again'
  inside.add(part)
  await sleep(ms)
  done.push(part)
  return part
}

@Controller()
class Orders {
  constructor(@Inject(Redisson) private readonly redisson: Redisson) {}

  @Get('pay')
  @WithLock(() => `${name}:http`)
  async pay(): Promise<string> {
    await section('http', 1_000)
    // The application is about to end: sections that have begun may still take locks.
    return await this.redisson.getLock(`${name}:http-2`).withLock(() => 'paid')
  }
}

@Injectable()
class Jobs {
  @WithLock(() => `${name}:cron`, { client: 'jobs' })
  @Cron(CronExpression.EVERY_SECOND)
  async report(): Promise<void> {
    await section('cron', AFTER_REQUESTS)
  }
}

@Injectable()
class Consumer {
  constructor() {
    queue.on('job', () => void this.process())
  }

  /** Outside any request; what it returns is waited for by nothing, so that only the end of its client can wait for it. */
  @WithLock(() => `${name}:queue`, { client: 'jobs' })
  async process(): Promise<string> {
    return await section('queue', AFTER_REQUESTS)
  }
}

@Injectable()
class Goodbye implements BeforeApplicationShutdown {
  constructor(@InjectRedisson('jobs') private readonly redisson: Redisson) {}

  beforeApplicationShutdown() {
    return this.redisson.getLock(`${name}:goodbye`).withLock(() => void done.push('goodbye'))
  }
}

describe('A Nest application that ends', () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  let app: INestApplication
  let redis: Redis

  beforeEach(async () => {
    inside.clear()
    queue.removeAllListeners()
    done.length = unhandled.length = 0
    process.on('unhandledRejection', note)
    const { url } = await sharedStandalone()
    redis = await openRedis()
    @Module({
      imports: [
        RedissonModule.forRoot({ redis: url }),
        RedissonModule.forRootAsync({ name: 'jobs', useFactory: () => ({ redis: url }) }),
        ScheduleModule.forRoot(),
      ],
      controllers: [Orders],
      providers: [Jobs, Consumer, Goodbye],
    })
    class App {}
    app = (await Test.createTestingModule({ imports: [App] }).compile()).createNestApplication()
    await app.listen(0, '127.0.0.1')
  })
  afterEach(async () => {
    // A test that has passed has closed it, and a second time its hooks reject.
    await app?.close().catch(() => {})
    process.off('unhandledRejection', note)
  })

  it('A Nest shutdown lets request, cron job and consumer end, and leaves no lock (U7)', async () => {
    queue.emit('job')
    // The application would wait for a connection that is kept alive, for longer than for its requests.
    const headers = { connection: 'close' }
    const response = fetch(`${await app.getUrl()}/pay`, { headers }).then((answer) => answer.text())
    await waitUntil('all three are inside', async () => inside.size === 3)
    expect(await redis.exists(`${name}:http`, `${name}:cron`, `${name}:queue`)).to.equal(3)
    expect(done).to.deep.equal([])
    await app.close()
    expect(await response).to.equal('paid')
    expect(done).to.have.members(['http', 'cron', 'queue', 'goodbye'])
    expect(await redis.keys(`${name}:*`)).to.deep.equal([])
    await sleep(50)
    expect(unhandled).to.deep.equal([])
  })
})
