import { expect } from 'chai'
import type { Redisson } from 'rlock'
import { createRedisson } from '../../../test/kit/clients'
import { examples } from '../../../test/kit/docs/pages'
import { redis, redisAndName } from '../../../test/kit/each-test'
import { ownServer, waitUntil } from '../../../test/kit/servers/index'
import { rlock, start, startWatching, untilSeen, watchedBy } from './cli'

const [, , , TO_LOOK, TO_FREE] = examples('acl').map(({ code }) => code.split(/\s+/)) as string[][]

/** Holds one object of each kind that has holders. Of the fair lock there is a waiter, too. */
async function holdAll(client: Redisson): Promise<string[]> {
  await client.getLock('lock:plain').lock()
  await client.getFencedLock('lock:fenced').lock()
  await client.getFairLock('lock:fair').lock()
  client
    .getFairLock('lock:fair')
    .lock()
    .catch(() => {})
  await client.getReadWriteLock('lock:read').readLock().lock()
  await client.getReadWriteLock('lock:write').writeLock().lock()
  await client.getTokenLock('lock:token').acquire()
  const permits = client.getPermitExpirableSemaphore('lock:permits')
  await permits.trySetPermits(1)
  await permits.acquirePermit()
  await waitUntil('it waits', () => client.stats().waiting === 1)
  return ['plain', 'fenced', 'fair', 'read', 'write', 'token', 'permits'].map((kind) => `lock:${kind}`)
}

describe('rlock and the user for operators of docs/operations/security.md', function () {
  this.timeout(60_000)
  const server = ownServer()

  redisAndName('test', { server })
  beforeEach(async () => {
    await redis.flushall()
    await redis.call('ACL', 'SETUSER', 'operator', 'reset', 'on', '>pw', ...TO_LOOK!)
    await redis.call('ACL', 'LOG', 'RESET')
  })

  const run = (...args: string[]) =>
    rlock([...args, '--json', '--redis', server.url, '--user', 'operator'], { REDISCLI_AUTH: 'pw' })
  const refused = async () =>
    ((await redis.call('ACL', 'LOG')) as unknown[][]).map((fields) => `${fields[7]}, a ${fields[3]}`)

  it('The user for operators sees every kind of lock with its processes, and frees none', async () => {
    const names = await holdAll(await createRedisson({ redis: server.url }))
    const { json, err } = await run('ls', 'lock:*')
    expect(err).to.equal('')
    expect(json.map(({ name }) => name)).to.have.members(names)
    expect(json.find(({ name }) => name === 'lock:fair').waiting.callers).to.equal(1)
    for (const name of names) expect((await run('show', name)).err, name).to.equal('')
    expect(await refused()).to.deep.equal([])
    const { code, err: refusal } = await run('unlock', 'lock:plain', '--yes')
    expect(code).to.equal(1)
    expect(refusal).to.contain('may not free locks').and.to.contain('security.md')
    expect(await redis.exists('lock:plain')).to.equal(1)
  })

  it('The user for operators frees every kind of lock with the rights to free', async () => {
    const names = await holdAll(await createRedisson({ redis: server.url }))
    await redis.call('ACL', 'SETUSER', 'operator', ...TO_FREE!)
    for (const name of names) {
      const { json, err } = await run(
        'unlock',
        name,
        '--yes',
        ...(name === 'lock:token' ? ['--kind', 'token'] : []),
      )
      expect(err, name).to.equal('')
      expect(json[0].result, name).to.equal('freed')
    }
    expect(await refused()).to.deep.equal([])
  })

  it('rlock unlock and show do not say that a lock is free which the user may not read', async () => {
    await (await createRedisson({ redis: server.url })).getLock('lock:plain').lock()
    await redis.call('ACL', 'SETUSER', 'operator', '-hscan')
    const { json, err } = await run('unlock', 'lock:plain', '--yes')
    expect(json[0].result).to.match(/not known/)
    expect(err).to.contain('hscan')
    expect((await run('show', 'lock:plain')).json[0].explanation.join()).to.match(/may not read/)
  })

  it('rlock watch and rlock page work with the rights to look, and say what they cannot see', async () => {
    const client = await createRedisson({ redis: server.url })
    const before = await client.getLock('lock:before').acquire()
    const connect = ['--redis', server.url, '--user', 'operator']
    const watching = await startWatching(connect, { REDISCLI_AUTH: 'pw' })
    expect(watchedBy(watching).unseen.join()).to.contain('PSUBSCRIBE').and.to.contain('acquisitions')
    await before.unlock()
    await untilSeen(watching, 'gone', 'lock:before')
    const later = await client.getLock('lock:later').acquire()
    await untilSeen(watching, 'acquired', 'lock:later')
    expect((await watching.interrupt()).code, watching.err).to.equal(0)

    const page = await start(['page', '--no-open', '--json', ...connect], { REDISCLI_AUTH: 'pw' })
    await waitUntil('it has printed its address', () => page.out.includes('\n'))
    const { origin, hash } = new URL(JSON.parse(page.out).address)
    const headers = { authorization: `Bearer ${hash.slice(1)}` }
    const { body } = await fetch(`${origin}/events`, { headers })
    const { value } = await body!.getReader().read()
    expect(Buffer.from(value!).toString()).to.contain('lock:later').and.to.not.contain('"error"')
    expect((await page.interrupt()).code).to.equal(0)
    await later.unlock()
  })
})
