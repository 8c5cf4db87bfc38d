import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InstalledPackage } from './installed-package'

/** As applications of Nest are compiled. */
export async function compileNestConsumer(installed: InstalledPackage): Promise<void> {
  const source = `
    import { Injectable, Module } from '@nestjs/common'
    import type { Redisson } from 'rlock'
    import { InjectRedisson, RedissonModule, RunOnce, WithLock } from '@rlock/nestjs'

    interface Order { id: string }

    @Injectable()
    export class Orders {
      constructor(@InjectRedisson('audit') readonly redisson: Redisson) {}

      @WithLock((order: Order) => order.id, { waitTime: 500, client: 'audit' })
      async pay(order: Order, amount: number): Promise<number> { return amount }

      // @ts-expect-error the arguments of the method are others
      @WithLock((order: Order) => order.id)
      async ship(id: string): Promise<void> {}

      // @ts-expect-error under a lock every method is a promise
      @WithLock(() => 'order')
      count(): number { return 1 }

      @RunOnce('report', { atLeast: 50_000 })
      async report(): Promise<void> {}
    }

    @Module({
      imports: [
        RedissonModule.forRoot({ redis: 'redis://h', shutdownTimeout: 5_000 }),
        RedissonModule.forRootAsync({ name: 'audit', inject: ['URL'], useFactory: (redis: string) => ({ redis }) }),
        // @ts-expect-error nothing says where Redis is
        RedissonModule.forRoot({ name: 'other' }),
      ],
      providers: [Orders],
    })
    export class App {}`
  writeFileSync(join(installed.project, 'nest-consumer.cts'), source)
  await installed.compile(['nest-consumer.cts'], {
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    // Nest's own declarations name packages that an application need not have.
    skipLibCheck: true,
  })
}
