import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { RedisUnavailableError } from '../../../src/index'
import { createRedisson, openRedis, rejection, uniqueName } from '../../kit/clients'
import { openProxy } from '../../kit/proxies'
import { needs, ownServer, waitUntil, withClient, without } from '../../kit/servers/index'
import { isFree, KINDS, keysOf, lateLinks, link, setting } from './link'

describe('A connection that broke with commands in flight', () => {
  lateLinks()

  const user = async (...rules: string[]) => {
    const name = uniqueName('user')
    await setting.admin.call('ACL', 'SETUSER', name, 'on', '>secret', '~*', '&*', '+@all', ...rules)
    const { host, port } = link.proxies[0]!
    return { host, port, username: name, password: 'secret' }
  }

  it('A broken connection is killed by its id before any command is sent again', async () => {
    const redisson = await link.client()
    const name = setting.newName()
    const seen: string[] = []
    void link.proxies[0]!.dropNextReply(([command = '', ...words]) => {
      const isKill = words[0]?.toLowerCase() === 'kill'
      if (isKill || words.includes(name)) seen.push(isKill ? 'kill' : command)
      return false
    })
    const withheld = link.withhold(name)
    const hold = await redisson.getLock(name).acquire()
    await withheld
    await hold.unlock()
    expect(seen).to.deep.equal(['kill', 'evalsha', 'evalsha'])
    // Once is enough: the connection after the next one kills nothing.
    link.proxies[0]!.cut()
    await waitUntil('the connection is gone', () => !redisson.isConnected, 10_000, 1)
    await waitUntil('the next one is there', () => redisson.isConnected)
    await redisson.getLock(name).withLock(() => {})
    expect(seen.filter((command) => command === 'kill')).to.have.length(1)
  })

  it('A connection that broke without commands in flight is not killed (guarantee 4)', async function () {
    await needs(this, 'statistics of subcommands')
    const redisson = await link.client()
    const [proxy] = link.proxies
    const before = await killsOf(setting.admin)
    const { connections } = proxy!
    proxy!.cut()
    await waitUntil('they are gone', () => proxy!.connections === 0, 10_000, 5)
    await waitUntil('they are back', () => proxy!.connections === connections)
    await redisson.getLock(setting.newName()).withLock(() => {})
    expect(await killsOf(setting.admin)).to.equal(before)
  })

  it('A slow kill of a broken connection delays calls, but not beyond their wait', async () => {
    const redisson = await link.client()
    const [proxy] = link.proxies
    const name = setting.newName()
    let resent = 0
    const withheld = link.withhold(name)
    const acquiring = redisson.getLock(name).acquire()
    const copy = await withheld
    // Sees commands when they come, and keeps none back.
    await new Promise<void>((resolve) => {
      void proxy!.withhold(([, ...words]) => {
        if (words.includes(name)) resent++
        if (words[0]?.toLowerCase() !== 'kill') return false
        proxy!.stallReplies()
        resolve()
        return false
      })
    })
    expect(await rejection(redisson.getLock(name).tryLock(300))).to.be.instanceOf(RedisUnavailableError)
    expect(resent).to.equal(0)
    proxy!.resume()
    const hold = await acquiring
    expect(resent).to.be.greaterThan(0)
    expect(await copy.arrive()).to.equal('dead')
    await hold.unlock()
    expect(await keysOf(setting.admin, name)).to.deep.equal([])
  })

  it('A broken connection is killed as soon as a busy server answers again', async () => {
    const [proxy] = link.proxies
    const redisson = await link.client()
    const name = setting.newName()
    await setting.admin.config('SET', 'lua-time-limit', 20)
    const looping = await openRedis(`redis://${setting.primary.host}:${setting.primary.port}`)
    const withheld = link.withhold(name)
    link.refuse()
    const acquiring = redisson.getLock(name).acquire()
    const copy = await withheld
    const script = rejection(looping.eval('while true do end', 0))
    await waitUntil('the server is busy', () =>
      setting.admin.get(name).then(
        () => false,
        ({ message }) => message.startsWith('BUSY'),
      ),
    )
    await link.accept()
    // Its handshake is answered BUSY.
    await waitUntil('the client is back', () => proxy!.connections > 0)
    await sleep(400)
    await setting.admin.script('KILL')
    await script
    const hold = await acquiring
    expect(await copy.arrive()).to.equal('dead')
    await hold.unlock()
    expect(await keysOf(setting.admin, name)).to.deep.equal([])
  })

  it('A broken connection is killed by the next one if the reply to CLIENT KILL is lost', async function () {
    await needs(this, 'statistics of subcommands')
    const redisson = await link.client()
    const [proxy] = link.proxies
    const name = setting.newName()
    const lost = proxy!.dropNextReply(([, subcommand]) => subcommand?.toLowerCase() === 'kill')
    const withheld = link.withhold(name)
    const before = await killsOf(setting.admin)
    const hold = await redisson.getLock(name).acquire()
    await lost
    const copy = await withheld
    // The second one kills both that broke.
    expect(await killsOf(setting.admin)).to.equal(before + 3)
    await hold.unlock()
    expect(await copy.arrive()).to.equal('dead')
    expect(await keysOf(setting.admin, name)).to.deep.equal([])
  })

  const withoutRights: Record<string, string[]> = {
    'may not ask for the id of a connection': without('client', 'id'),
    'may not kill a connection': without('client', 'kill'),
    'may use no command CLIENT': ['-client'],
    'may not use INFO': ['-info'],
  }
  for (const [title, rules] of Object.entries(withoutRights)) {
    it(`create() warns of a user who ${title} that late copies are possible (guarantee 4)`, async () => {
      const warned = new Promise<Error>((resolve) => {
        const listener = (warning: Error & { code?: string }) => {
          if (warning.code !== 'RLOCK_FENCE_REFUSED') return
          process.off('warning', listener)
          resolve(warning)
        }
        process.on('warning', listener)
      })
      const source = await user(...rules)
      await createRedisson({ redis: source })
      expect((await warned).message)
        .to.contain(source.username)
        .and.contain('+client|kill')
    })

    for (const [kind, lockOf] of Object.entries(KINDS))
      it(`A late copy of a user who ${title}: no second holder, ${kind} is free later`, async () => {
        const redisson = await link.client({}, {}, await user(...rules))
        const name = setting.newName()
        const copyOfNext = async () => {
          const withheld = link.withhold(name)
          const hold = await lockOf(redisson, name).acquire({ leaseTime: 1_500 })
          const copy = await withheld
          await hold.unlock()
          return copy
        }
        const first = await copyOfNext()
        const holder = kind === 'a read lock' ? 'a write lock' : kind
        const theirs = await KINDS[holder]!(setting.peer, name).acquire()
        expect(await first.arrive()).to.equal('executed')
        expect(await KINDS[holder]!(setting.peer, name).isLocked()).to.equal(true)
        expect(
          Object.keys(await setting.admin.hgetall(name)).filter((field) => field !== 'mode'),
        ).to.deep.equal([theirs.owner])
        await theirs.unlock()
        const second = await copyOfNext()
        expect(await second.arrive()).to.equal('executed')
        expect(await keysOf(setting.admin, name)).not.to.deep.equal([])
        await isFree(setting.admin, name)
      })
  }

  it('create() warns nothing of a user whose broken connections can be fenced (guarantee 4)', async () => {
    const codes: unknown[] = []
    const listener = ({ code }: Error & { code?: string }) => codes.push(code)
    process.on('warning', listener)
    await createRedisson({ redis: await user() })
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', listener)
    expect(codes).to.not.include('RLOCK_FENCE_REFUSED')
  })
})

describe('A connection that broke and whose server was restarted', () => {
  const server = ownServer()

  // Ids begin anew, and after so few connections somebody else has the one that broke.
  it('A restart of the server leads to no kill of another connection of the same id', async () => {
    const proxy = await openProxy(server)
    const redisson = await createRedisson({ redis: proxy.url })
    const name = uniqueName()
    await redisson.getLock(name).withLock(() => {})
    const theirs = await withClient(server, idsOf)
    const withheld = proxy.withhold(([command, ...words]) => command === 'evalsha' && words.includes(name))
    proxy.refuse()
    const acquiring = redisson.getLock(name).acquire()
    await withheld
    await server.restart()
    const strangers: Redis[] = []
    let ended = 0
    let highest = 0
    while (highest < Math.max(...theirs) + 5) {
      const stranger = new Redis({ host: server.host, port: server.port })
      highest = Number(await stranger.client('ID'))
      stranger.on('close', () => ended++)
      strangers.push(stranger)
    }
    await proxy.accept()
    await (await acquiring).unlock()
    for (const stranger of strangers) await stranger.ping()
    expect(ended).to.equal(0)
    for (const stranger of strangers) stranger.disconnect()
  })
})

/** How many times CLIENT KILL was called. */
async function killsOf(redis: Redis): Promise<number> {
  const stats = await redis.info('commandstats')
  return Number(/cmdstat_client\|kill:calls=(\d+)/.exec(stats)?.[1] ?? 0)
}

async function idsOf(redis: Redis): Promise<number[]> {
  const list = (await redis.client('LIST')) as string
  return [...list.matchAll(/^id=(\d+)/gm)].map(([, id]) => Number(id))
}
