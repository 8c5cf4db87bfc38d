// Fastify: a plugin that gives every route `fastify.redisson`, and ends the client with the server.
import fastify, { type FastifyInstance } from 'fastify'
import { Redisson, type RedissonOptions } from 'rlock'

declare module 'fastify' {
  interface FastifyInstance {
    redisson: Redisson
  }
}

async function redissonPlugin(app: FastifyInstance, options: RedissonOptions): Promise<void> {
  const redisson = await Redisson.create(options)
  redisson.on('error', (error) => app.log.warn(error)).on('lockLost', ({ error }) => app.log.error(error))
  app.decorate('redisson', redisson)
  // Runs when the requests under way have been answered.
  app.addHook('onClose', () => redisson.shutdown({ timeout: 10_000 }))
}
// For the whole application, not for what is registered below it only (what the package fastify-plugin does).
const plugin = Object.assign(redissonPlugin, { [Symbol.for('skip-override')]: true })

async function main(): Promise<void> {
  const app = fastify()
  await app.register(plugin, { redis: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' })

  app.post<{ Params: { id: string } }>('/orders/:id/pay', async ({ params: { id } }, reply) => {
    await using hold = await app.redisson.getLock(`order:${id}`).tryAcquire({ waitTime: 500 })
    return hold ? await pay(id) : reply.code(409).send('the order is being paid')
  })

  await app.listen({ port: Number(process.env.PORT ?? 3000) })
  console.log('ready', app.server.address())
  process.once('SIGTERM', () => void app.close())
}

async function pay(id: string): Promise<string> {
  return await new Promise((resolve) => setTimeout(resolve, 1_000, `paid ${id}`))
}
void main()
