import { expect } from 'chai'
import { createRedisson, uniqueName } from '../../../test/kit/clients'
import { name, redis, redisAndName } from '../../../test/kit/each-test'
import { Program } from '../../../test/kit/program'
import { ownServer, waitUntil } from '../../../test/kit/servers/index'
import { answerInspectors, rlock } from './cli'

describe('rlock show', function () {
  this.timeout(60_000)
  const server = ownServer()
  redisAndName('test', { server })

  const show = (name: string, ...args: string[]) =>
    rlock(['show', name, '--redis', server.url, '--json', ...args])

  it('rlock show prints fields, the fair queue with deadlines, processes and the meaning', async () => {
    const client = await createRedisson({ redis: server.url, label: 'web 7' })
    const hold = await client.getFairLock(name).acquire()
    const waiting = client.getFairLock(name).acquire()
    await waitUntil('it queues', async () => (await redis.llen(`redisson_lock_queue:{${name}}`)) === 1)
    const [{ object, keys, processes, explanation }] = (await show(name)).json
    expect(object.holders[0]).to.include({ owner: hold.owner, label: 'web 7' })
    expect(object.holders[0].heldFor).to.be.within(0, 30_000)
    const contents = Object.fromEntries(
      keys.map((each: { role: string; content: unknown }) => [each.role, each.content]),
    )
    expect(contents.object).to.deep.equal({ [hold.owner]: '1' })
    const [place] = contents['fair queue']
    expect(place).to.match(new RegExp(`^${client.getId()}:`))
    expect(Object.keys(contents['fair deadlines'])).to.deep.equal([place])
    expect(processes[0].waits[0]).to.include({ key: name, owner: place })
    expect(explanation.join('\n')).to.contain('is alive: its process answers as web 7')
    await hold.unlock()
    await (await waiting).unlock()
  })

  it('rlock show prints read timeouts, tokens, permits, request records and listeners', async () => {
    const client = await createRedisson({ redis: server.url })
    const [read, fenced, permits, plain] = [uniqueName(), uniqueName(), uniqueName(), uniqueName()]
    const reading = await client.getReadWriteLock(read).readLock().acquire()
    const token = await client.getFencedLock(fenced).acquire()
    const semaphore = client.getPermitExpirableSemaphore(permits)
    await semaphore.trySetPermits(2)
    const permit = await semaphore.acquirePermit()
    await client.getSemaphore(plain).trySetPermits(1)
    await client.getSemaphore(plain).acquire()
    const waiting = (await createRedisson({ redis: server.url })).getReadWriteLock(read).writeLock().acquire()
    const all = async (name: string) => (await show(name)).json[0]
    const roles = async (name: string) => {
      const { keys } = await all(name)
      return keys.map(({ role, ttl }: { role: string; ttl: number }) => [role, ttl > 0])
    }
    expect(await roles(read)).to.deep.include(['read timeout', true])
    await waitUntil('one listens', async () => {
      const { channels } = await all(read)
      return channels[0].channel === `redisson_rwlock:{${read}}` && channels[0].listeners === 1
    })
    const { keys } = await all(fenced)
    expect(keys.find(({ role }: { role: string }) => role === 'fencing token').content).to.equal(
      String(token.token),
    )
    const inUse = (await all(permits)).keys.find(({ role }: { role: string }) => role === 'permits in use')
    expect(inUse.content).to.equal(1)
    expect((await all(permits)).object.holders[0].ttl).to.be.within(1, 30_000)
    expect(await roles(plain)).to.deep.include(['requests of a client', true])
    expect((await all(plain)).channels.map(({ channel }: { channel: string }) => channel)).to.include(
      `redisson_sc:{${plain}}`,
    )
    await Promise.all([reading.unlock(), token.unlock(), permit.release()])
    await (await waiting).unlock()
  })

  it('rlock show ends with 1 for a name of which there is nothing', async () => {
    const { code, json } = await show(name)
    expect([code, json[0].object]).to.deep.equal([1, null])
    const { out } = await rlock(['show', name, '--redis', server.url])
    expect(out).to.match(/^\s*What it means\s+There is no key of this name/)
    expect((await rlock(['--version'])).out).to.match(/^\d+\.\d+\.\d+\n$/)
  })

  it('rlock show never shows the token of a token lock', async () => {
    await redis.set(name, 'hush-hush', 'PX', 20_000)
    for (const args of [[], ['--kind', 'token']])
      expect((await show(name, ...args)).out).to.not.contain('hush-hush')
  })

  it('rlock show and doctor name a deadlock of two processes, with both places in the code', async () => {
    const [one, two] = [uniqueName(), uniqueName()]
    process.env.NODE_ENV = 'development'
    const programs = [
      new Program('deadlock.ts', server.url, one, two, 'first process'),
      new Program('deadlock.ts', server.url, two, one, 'second process'),
    ]
    delete process.env.NODE_ENV
    for (const program of programs) expect(await program.line()).to.equal('held')
    for (const program of programs) program.say('go')
    await waitUntil('both wait', async () => {
      const channels = [one, two].map((name) => `redisson_lock__channel:{${name}}`)
      const [, first, , second] = (await redis.pubsub('NUMSUB', ...channels)) as [
        string,
        number,
        string,
        number,
      ]
      return first === 1 && second === 1
    })
    const [{ deadlocks }] = (await show(one)).json
    expect(deadlocks).to.have.lengthOf(1)
    expect(deadlocks[0].map(({ label }: { label: string }) => label)).to.have.members([
      'first process',
      'second process',
    ])
    for (const { holds, waits } of deadlocks[0]) {
      expect(holds.at, 'holds').to.match(/deadlock\.ts:\d+:\d+/)
      expect(waits.at, 'waits').to.match(/deadlock\.ts:\d+:\d+/)
      expect(waits.at).to.not.equal(holds.at)
    }
  })

  it('rlock show ignores a process with a foreign client id or a hold Redis does not have', async () => {
    const client = await createRedisson({ redis: server.url, label: 'honest' })
    const hold = await client.getLock(uniqueName()).acquire()
    const owner = `${client.getId()}:${hold.threadId}`
    const lie = JSON.stringify({
      ...{ v: 1, client: client.getId(), label: 'liar\u001b[2J', host: 'h', pid: 1, waits: [], cut: false },
      holds: [{ key: hold.lockName, name: hold.lockName, kind: 'lock', owner, heldFor: 1e12 }],
    })
    await answerInspectors(server.url, () => [[lie, 'x'.repeat(100_000), '{"v":1}', '[]', 'null']])
    const { json, err } = await show(hold.lockName)
    expect(json[0].object.holders[0]).to.include({ owner: hold.owner, label: null, heldFor: null })
    expect(err).to.contain('two different answers')
    await hold.unlock()
  })
})
