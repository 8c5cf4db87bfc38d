import { expect } from 'chai'
import { uniqueName } from '../test/kit/clients'
import { ForeignFairLock } from '../test/kit/foreign-fair-lock'
import { describeWithJava, REDISSON_VERSIONS } from '../test/kit/java'
import { Program } from '../test/kit/program'
import { waitUntil } from '../test/kit/servers/index'
import { FAIR } from './support/lock-peer'
import { setUpWorld } from './support/world'

/** j comes in Java, n and o in one of two Node processes. */
const ARRIVALS = 'jnonjjoonnjo'

describeWithJava('A fair lock among processes', () => {
  const world = setUpWorld(REDISSON_VERSIONS.newest)

  it('Callers of two Node processes and a Java one enter in order of arrival (E11)', async () => {
    const [name, log] = [uniqueName('fair'), uniqueName('log')]
    const queue = new ForeignFairLock(world.redis, name)
    const programs = { n: start(name, log), o: start(name, log) }
    for (const program of Object.values(programs)) expect(await program.line()).to.equal('ready')
    await queue.take(60_000, 99)
    const served: Promise<unknown>[] = []
    for (const [number, process] of [...ARRIVALS].entries()) {
      if (process === 'j') served.push(inJava(name, log, number))
      else programs[process as 'n' | 'o'].say(String(number))
      await waitUntil('it has come', async () => (await queue.places()).length > number, 5_000, 2)
      const owner = (await queue.places()).at(-1)!
      await waitUntil('it listens', async () => (await listeners(queue.channelOf(owner))) > 0, 5_000, 2)
    }
    const came = await queue.places()
    const clients = new Set(came.map((owner) => owner.slice(0, owner.lastIndexOf(':'))))
    expect(clients.size, 'clients in the queue').to.equal(3)
    await queue.release()
    await waitUntil('all were served', async () => (await world.redis.llen(log)) === came.length, 15_000)
    await Promise.all(served)
    expect((await world.redis.lrange(log, 0, -1)).map(Number)).to.deep.equal([...ARRIVALS].map((_, n) => n))
    await waitUntil('nothing is left', async () => (await world.redis.exists(name, queue.queue)) === 0)
  })

  const start = (name: string, log: string) => new Program('arrive-fair.ts', world.server.url, name, log)

  async function inJava(name: string, log: string, number: number) {
    const thread = world.Java.thread(`caller ${number}`)
    await thread.lock(name, FAIR)
    await world.redis.rpush(log, number)
    await thread.unlock(name, FAIR)
  }

  async function listeners(channel: string): Promise<number> {
    const [, count] = (await world.redis.pubsub('NUMSUB', channel)) as [string, number]
    return Number(count)
  }
})
