// A script: one section under a lock, and an end. `await using` shuts the client down (TypeScript, or Node 24).
import { Redisson } from 'rlock'

async function main(): Promise<void> {
  await using redisson = await Redisson.create({ redis: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' })
  redisson.on('error', console.warn).on('lockLost', ({ error }) => console.error(error))

  const lock = redisson.getLock('order:42')
  await lock.withLock(async ({ signal }) => {
    // Waits for the lock, however long that takes. `signal` aborts should the lock be lost meanwhile.
    await fetchInvoice({ signal })
  })

  // Half a second, and no longer.
  await using hold = await lock.tryAcquire({ waitTime: 500 })
  console.log(hold ? 'done' : 'taken')
}

async function fetchInvoice({ signal }: { signal: AbortSignal }): Promise<void> {
  signal.throwIfAborted()
}

void main()
