// NestJS: two replicas of this application pay an order one after the other, and send one report a minute.
import 'reflect-metadata'
import { Controller, Injectable, Module, Param, Post } from '@nestjs/common'
import { APP_FILTER, NestFactory } from '@nestjs/core'
import { Cron, CronExpression, ScheduleModule } from '@nestjs/schedule'
import { LockTimeoutFilter, RedissonModule, RunOnce, WithLock } from '@rlock/nestjs'

@Controller('orders')
class Orders {
  @Post(':id/pay')
  @WithLock((id: string) => `order:${id}`, { waitTime: 5_000 })
  async pay(@Param('id') id: string): Promise<string> {
    return await new Promise((resolve) => setTimeout(resolve, 1_000, `paid ${id}`))
  }
}

@Injectable()
class Reports {
  @Cron(CronExpression.EVERY_MINUTE)
  @RunOnce('cron:report', { atLeast: 50_000 })
  async send(): Promise<void> {}
}

@Module({
  imports: [
    RedissonModule.forRoot({ redis: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' }),
    ScheduleModule.forRoot(),
  ],
  controllers: [Orders],
  providers: [Reports, { provide: APP_FILTER, useClass: LockTimeoutFilter }],
})
class App {}

async function main(): Promise<void> {
  const app = await NestFactory.create(App, { logger: ['error', 'warn'] })
  app.enableShutdownHooks() // SIGTERM ends the requests, and then the client
  await app.listen(Number(process.env.PORT ?? 3000))
  console.log('ready', app.getHttpServer().address())
}
void main()
