import { expect } from 'chai'
import { type Cluster, Redis, type RedisOptions } from 'ioredis'
import { closedAfterEach } from '../closing'

const opened: (Redis | Cluster)[] = []

/** A client of a test, closed after it. */
export function connectTo(url: string, options: Omit<RedisOptions, 'replyMapping'> = {}): Redis {
  return track(new Redis(url, options))
}

export function track<T extends Redis | Cluster>(client: T): T {
  // The tests break connections on purpose, and look at the commands that fail.
  client.on('error', () => {})
  opened.push(client)
  return client
}

closedAfterEach('client', () => {
  for (const client of opened.splice(0)) client.disconnect()
})

/** Whether the promise is still pending after a moment in which a healthy server would long have answered. */
export async function staysSilent(promise: Promise<unknown>): Promise<boolean> {
  promise.catch(() => {})
  const silence = new Promise((resolve) => setTimeout(resolve, 150, 'silence'))
  return (await Promise.race([promise, silence])) === 'silence'
}

export async function rejects(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    () => undefined,
    (failure: Error) => failure,
  )
  expect(outcome, 'a rejection').to.be.instanceOf(Error)
  return outcome as Error
}
