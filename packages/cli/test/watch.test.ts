import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { closeAll, createRedisson, openRedis, uniqueName } from '../../../test/kit/clients'
import { type Standalone, startStandalone, waitUntil } from '../../../test/kit/servers/index'
import { killRuns, type Run, start } from './cli'

const JAVA = '0b6d2a3e-1111-4222-8333-944444444444'

describe('rlock watch', function () {
  this.timeout(60_000)
  let server: Standalone
  let redis: Redis

  before(async () => {
    server = await startStandalone()
  })
  after(() => server.stop())
  beforeEach(async () => {
    redis = await openRedis(server.url)
  })
  afterEach(killRuns)
  afterEach(closeAll)

  const watch = async (...args: string[]) => {
    const run = await start(['watch', '--redis', server.url, '--json', ...args])
    await waitUntil('it watches', () => run.out.includes('"watching"'))
    return run
  }
  const seen = (run: Run) =>
    run.out
      .split('\n')
      .slice(1, -1)
      .map((line) => JSON.parse(line) as { event: string; name: string; owner: string; from: string | null })
  const untilSeen = (run: Run, event: string, name: string) =>
    waitUntil(`${event} is seen`, () => seen(run).some((each) => each.event === event && each.name === name))
  const flags = async () => ((await redis.config('GET', 'notify-keyspace-events')) as string[])[1]

  it('rlock watch --enable-notifications shows what Java does, and puts the setting back', async () => {
    const before = await flags()
    const run = await watch('--enable-notifications')
    const name = uniqueName()
    await redis.hincrby(name, `${JAVA}:1`, 1)
    await untilSeen(run, 'acquired', name)
    await redis.hincrby(name, `${JAVA}:1`, 1)
    await untilSeen(run, 're-entered', name)
    await redis.hincrby(name, `${JAVA}:1`, -1)
    await untilSeen(run, 'left a level', name)
    await redis.del(name)
    await untilSeen(run, 'released', name)
    await redis.hincrby(name, `${JAVA}:2`, 1)
    await redis.pexpire(name, 50)
    await untilSeen(run, 'expired', name)
    expect(seen(run).find(({ event }) => event === 'acquired')!.owner).to.equal(`${JAVA}:1`)
    run.child.kill('SIGINT')
    expect((await run.ended).code).to.equal(0)
    expect(await flags()).to.equal(before)
  })

  it('rlock watch without notifications shows releases and says that it cannot see acquisitions', async () => {
    const before = await flags()
    const client = await createRedisson({ redis: server.url })
    const hold = await client.getLock(uniqueName()).acquire()
    const run = await watch()
    const [{ sources, unseen }] = [JSON.parse(run.out.split('\n')[0]!)]
    expect(sources).to.deep.equal(['messages of releases'])
    expect(unseen.join()).to.contain('acquisitions')
    await hold.unlock()
    await untilSeen(run, 'released', hold.lockName)
    expect(await flags()).to.equal(before)
  })

  it('rlock watch shows a lock that is handed on', async () => {
    const run = await watch('--enable-notifications', 'handed:*')
    await redis.multi().hset('handed:1', `${JAVA}:1`, 1).hset('other', `${JAVA}:1`, 1).exec()
    await untilSeen(run, 'acquired', 'handed:1')
    await redis.multi().hdel('handed:1', `${JAVA}:1`).hset('handed:1', `${JAVA}:2`, 1).exec()
    await untilSeen(run, 'handed on', 'handed:1')
    const change = seen(run).find(({ event }) => event === 'handed on')!
    expect([change.owner, change.from]).to.deep.equal([`${JAVA}:2`, `${JAVA}:1`])
    expect(seen(run).some(({ name }) => name === 'other')).to.equal(false)
    run.child.kill('SIGINT')
    await run.ended
  })
})
