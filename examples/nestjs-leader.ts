// NestJS: of all replicas, the leader alone runs the methods with @Leader(). A new leader goes on where the old one was killed.
import 'reflect-metadata'
import { Inject, Injectable, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { Interval, ScheduleModule } from '@nestjs/schedule'
import { RedissonModule } from '@rlock/nestjs'
import { type Election, elect } from '@rlock/recipes'
import { Redisson } from 'rlock'

const ELECTION = 'ELECTION'

/** Calls the method in the leader alone. It stands below the decorators that call the method. */
function Leader(): MethodDecorator {
  return (target, _name, descriptor: PropertyDescriptor) => {
    Inject(ELECTION)(target, ELECTION)
    const method = descriptor.value
    descriptor.value = async function (this: { [ELECTION]: Election }, ...args: unknown[]) {
      return this[ELECTION].isLeader ? await method.apply(this, args) : undefined
    }
  }
}

@Injectable()
class Poller {
  @Interval(100)
  @Leader()
  async poll(): Promise<void> {
    console.log(`polled ${process.pid}`)
  }
}

const redis = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'
const useFactory = (redisson: Redisson): Election => elect(redisson, 'poller')
const imports = [RedissonModule.forRoot({ redis }), ScheduleModule.forRoot()]
@Module({ imports, providers: [Poller, { provide: ELECTION, inject: [Redisson], useFactory }] })
class App {}

void NestFactory.createApplicationContext(App, { logger: ['error'] }).then((app) => app.enableShutdownHooks())
