import { expect } from 'chai'
import { createRedisson, uniqueName } from '../../../test/kit/clients'
import { name, redis, redisAndName } from '../../../test/kit/each-test'
import { Program } from '../../../test/kit/program'
import { ownServer, waitUntil } from '../../../test/kit/servers/index'
import { parseSubkeys } from '../src/notifications'
import { type Run, seenBy, startWatching, untilSeen, watchedBy } from './cli'

const JAVA = '0b6d2a3e-1111-4222-8333-944444444444'
const RLOCK = '0b6d2a3e-1111-8222-8333-944444444444'

describe('rlock watch', function () {
  this.timeout(60_000)
  const server = ownServer()

  redisAndName('test', { server })

  const watch = (...args: string[]) => startWatching(['--redis', server.url, ...args])
  const flags = async () => ((await redis.config('GET', 'notify-keyspace-events')) as string[])[1]

  it('rlock watch --enable-notifications shows what Java does, and puts the setting back', async () => {
    const before = await flags()
    const run = await watch('--enable-notifications')
    await redis.hincrby(name, `${JAVA}:1`, 1)
    await untilSeen(run, 'acquired', name)
    await redis.hincrby(name, `${JAVA}:1`, 1)
    await untilSeen(run, 're-entered', name)
    await redis.hincrby(name, `${JAVA}:1`, -1)
    await untilSeen(run, 'left a level', name)
    await redis.multi().del(name).publish(`redisson_lock__channel:{${name}}`, '0').exec()
    await untilSeen(run, 'released', name)
    await redis.hincrby(name, `${JAVA}:2`, 1)
    await redis.pexpire(name, 50)
    await untilSeen(run, 'expired', name)
    expect(seenBy(run).find(({ event }) => event === 'acquired')!.owner).to.equal(`${JAVA}:1`)
    expect((await run.interrupt()).code).to.equal(0)
    expect(await flags()).to.equal(before)
  })

  it('rlock watch without notifications shows releases and says that it cannot see acquisitions', async () => {
    const before = await flags()
    const client = await createRedisson({ redis: server.url })
    const hold = await client.getLock(uniqueName()).acquire()
    const run = await watch()
    const { sources, unseen } = watchedBy(run)
    expect(sources).to.deep.equal(['messages of releases'])
    expect(unseen.join()).to.contain('acquisitions')
    await hold.unlock()
    await untilSeen(run, 'released', hold.lockName)
    expect(await flags()).to.equal(before)
  })

  it('rlock watch shows a lock that is handed on', async () => {
    const [handed, other] = [`${name}:1`, uniqueName()]
    const run = await watch('--enable-notifications', `${name}:*`)
    await redis.multi().hset(handed, `${JAVA}:1`, 1).hset(other, `${JAVA}:1`, 1).exec()
    await untilSeen(run, 'acquired', handed)
    await redis.multi().hdel(handed, `${JAVA}:1`).hset(handed, `${JAVA}:2`, 1).exec()
    await untilSeen(run, 'handed on', handed)
    const change = seenBy(run).find(({ event }) => event === 'handed on')!
    expect([change.owner, change.from]).to.deep.equal([`${JAVA}:2`, `${JAVA}:1`])
    expect(seenBy(run).some((each) => each.name === other)).to.equal(false)
    await run.interrupt()
  })

  it('rlock watch shows a hold as lost whose key is deleted without a release, also by FLUSHALL', async () => {
    const run = await watch('--enable-notifications')
    const [one, other] = [uniqueName(), uniqueName()]
    for (const name of [one, other]) {
      await redis.hincrby(name, `${RLOCK}:1`, 1)
      await untilSeen(run, 'acquired', name)
    }
    await redis.del(one)
    await untilSeen(run, 'lost', one)
    await redis.flushall()
    await untilSeen(run, 'gone', other)
    await run.interrupt()
  })

  it('rlock watch shows a reader that leaves other readers as released, and not as lost', async () => {
    const [one, other] = [
      await createRedisson({ redis: server.url }),
      await createRedisson({ redis: server.url }),
    ]
    const run = await watch('--enable-notifications')
    const first = await one.getReadWriteLock(name).readLock().acquire()
    const second = await other.getReadWriteLock(name).readLock().acquire()
    await waitUntil('both are seen', () => seenBy(run).length === 2)
    await first.unlock()
    await waitUntil('its end is seen', () => seenBy(run).length === 3)
    await second.unlock()
    await waitUntil('all is seen', () => seenBy(run).length === 4)
    expect(seenBy(run).map(({ event }) => event)).to.deep.equal([
      'acquired',
      'acquired',
      'released',
      'released',
    ])
    await run.interrupt()
  })

  it('rlock watch calls no lock of Java lost that went silently: it may have been fair', async () => {
    const run = await watch('--enable-notifications')
    await redis.hincrby(name, `${JAVA}:1`, 1)
    await untilSeen(run, 'acquired', name)
    await redis.del(name)
    await untilSeen(run, 'gone', name)
    await run.interrupt()
  })

  it('rlock watch shows the lock of a killed process as expired, notifications or not', async () => {
    for (const args of [['--enable-notifications'], []]) {
      const name = uniqueName()
      const program = new Program('deadlock.ts', server.url, name, uniqueName(), 'killed')
      expect(await program.line()).to.equal('held')
      const run = await watch(...args)
      program.kill()
      await program.exit
      // The rest of its lease, shortened.
      await redis.pexpire(name, 1_500)
      await untilSeen(run, 'expired', name)
      await run.interrupt()
    }
  })

  it('rlock watch shows holds shorter than a look where the server tells fields (8.8)', async () => {
    // What Redis 8.8 and later publish, sent by hand: the channel and the text are the same on every server.
    const run = await watch()
    const owner = `${JAVA}:7`
    const text = `${name.length}:${name}|${owner.length}:${owner}`
    await redis.publish('__subkeyevent@0__:hincrby', text)
    await untilSeen(run, 'acquired', name)
    await untilSeen(run, 'released', name)
    expect(seenBy(run).map((each) => [each.event, each.owner])).to.deep.equal([
      ['acquired', owner],
      ['released', owner],
    ])
    await run.interrupt()
  })

  it('rlock watch reads messages about fields, and nothing else for one', () => {
    expect(parseSubkeys('3:a|b|1:x,2:é')).to.deep.equal({ key: 'a|b', fields: ['x', 'é'] })
    for (const text of [
      '',
      '1:a',
      '1:a|',
      '9:a|1:x',
      '1:a|2:x',
      '1:a,1:x',
      'a|x',
      '1:a|1:xy',
      '99999999999:a|1:x',
      'x'.repeat(100_000),
    ])
      expect(parseSubkeys(text), text.slice(0, 20)).to.equal(undefined)
  })

  it('Several rlock watch --enable-notifications: the last to end puts the setting back', async () => {
    await redis.config('SET', 'notify-keyspace-events', 'Kx')
    const before = await flags()
    const end = async (run: Run) => expect((await run.interrupt()).code, run.err).to.equal(0)
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 0, 2],
    ]) {
      const runs = [
        await watch('--enable-notifications'),
        await watch('--enable-notifications'),
        await watch('--enable-notifications'),
      ]
      const enabled = await flags()
      expect(enabled).to.not.equal(before)
      for (const at of order) {
        expect(await flags()).to.equal(enabled)
        await end(runs[at]!)
      }
      expect(await flags(), order.join()).to.equal(before)
    }
    const [one, other] = [await watch('--enable-notifications'), await watch('--enable-notifications')]
    await Promise.all([end(one), end(other)])
    expect(await flags()).to.equal(before)
    // A user who sets it meanwhile keeps it.
    const run = await watch('--enable-notifications')
    await redis.config('SET', 'notify-keyspace-events', 'KEA')
    const theirs = await flags()
    await end(run)
    expect(await flags()).to.equal(theirs)
    await redis.config('SET', 'notify-keyspace-events', '')
  })

  it('rlock watch --enable-notifications turns on fields from 8.8 on, keys elsewhere', async () => {
    const hasFields = await redis.config('SET', 'notify-keyspace-events', 'T').then(
      () => true,
      () => false,
    )
    await redis.config('SET', 'notify-keyspace-events', '')
    const run = await watch('--enable-notifications')
    const { sources } = watchedBy(run)
    expect(sources).to.include('keyspace notifications')
    expect(sources.includes('subkey notifications')).to.equal(hasFields)
    run.child.kill('SIGTERM')
    await run.ended
    expect(await flags()).to.equal('')
  })
})
