import 'reflect-metadata'
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
import { Redisson } from '../../src/index'
import { InjectRedisson, RedissonModule, WithLock } from '../../src/nestjs'
import { closeAll, openRedis, uniqueName } from '../kit/clients'
import { sharedStandalone, waitUntil } from '../kit/servers/index'

const name = uniqueName('nest-shutdown').replaceAll(':', '-')
const inside = new Set<string>()
const done: string[] = []

async function section(part: string): Promise<string> {
  if (inside.has(part)) return 'again'
  inside.add(part)
  await sleep(1_000)
  done.push(part)
  return part
}

@Controller()
class Orders {
  constructor(@Inject(Redisson) private readonly redisson: Redisson) {}

  @Get('pay')
  @WithLock(() => `${name}:http`)
  async pay(): Promise<string> {
    await section('http')
    // The application is about to end: those who have begun may still take locks.
    return await this.redisson.getLock(`${name}:http-2`).withLock(() => 'paid')
  }
}

@Injectable()
class Jobs {
  @WithLock(() => `${name}:cron`, { client: 'jobs' })
  @Cron(CronExpression.EVERY_SECOND)
  async report(): Promise<void> {
    await section('cron')
  }
}

@Injectable()
class Consumer implements BeforeApplicationShutdown {
  private job: Promise<string> | undefined

  /** As a worker of a queue does: outside any request, and waited for at the end. */
  begin() {
    this.job = this.process()
  }

  @WithLock(() => `${name}:queue`, { client: 'jobs' })
  async process(): Promise<string> {
    return await section('queue')
  }

  async beforeApplicationShutdown() {
    await this.job
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

  before(async () => {
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
  after(async () => {
    process.off('unhandledRejection', note)
    await closeAll()
  })

  it('lets the request, the cron job and the queue consumer inside their locks end, and leaves no lock (U7)', async () => {
    app.get(Consumer).begin()
    const response = fetch(`${await app.getUrl()}/pay`).then((answer) => answer.text())
    await waitUntil('all three are inside', async () => inside.size === 3)
    await app.close()
    expect(await response).to.equal('paid')
    expect(done).to.have.members(['http', 'cron', 'queue', 'goodbye'])
    expect(await redis.keys(`${name}:*`)).to.deep.equal([])
    await sleep(50)
    expect(unhandled).to.deep.equal([])
  })
})
