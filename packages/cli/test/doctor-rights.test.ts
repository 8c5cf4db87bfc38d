import { expect } from 'chai'
import { luaSources } from 'rlock/internal'
import { examples } from '../../../test/kit/docs/pages'
import { redis, redisAndName } from '../../../test/kit/each-test'
import { freshCluster, needs, ownServer, withClient } from '../../../test/kit/servers/index'
import { Connection } from '../src/connection'
import { commandsOf } from '../src/doctor/needs'
import { rights } from '../src/doctor/rights'
import { addressOf } from '../src/pages'
import { rlock } from './cli'

/** The user of docs/operations/security.md, and what it lists for a cluster. */
const [RIGHTS, IN_A_CLUSTER] = examples('acl').map(({ code }) => code.split(/\s+/)) as [string[], string[]]
/** Of names with braces, of a database other than 0, of the ways to ask, of servers with replicas, and what is no right. */
const NOT_CHECKED =
  /^(reset|-@all|\+select$|~rlock_requests:lock:|~redisson_lock_\w+:lock:|&\w+:lock:|\+(acl|multi|discard|wait))/

describe('rlock doctor and the rights of a user', function () {
  this.timeout(60_000)
  const server = ownServer()

  redisAndName('test', { server })

  const setUser = (...words: string[]) => redis.call('ACL', 'SETUSER', 'app', 'reset', 'on', '>pw', ...words)
  const doctor = async (...args: string[]) => {
    const { json, err } = await rlock(['doctor', '--redis', server.url, '--user', 'app', '--json', ...args], {
      REDISCLI_AUTH: 'pw',
    })
    return { err, missing: json.filter(({ id }) => id === 'missing-right') }
  }
  /** The check alone, without a process of its own. */
  const check = async (names: string[] = []) => {
    const url = server.url.replace('redis://', 'redis://app:pw@')
    const connection = await Connection.open({ redis: url })
    try {
      const [primary] = connection.primaries()
      const nodes = [{ redis: primary!, address: '', info: new Map<string, string>() }]
      const findings = await rights({
        connection,
        nodes,
        rows: [],
        processes: [],
        names,
        longerThan: undefined,
        config: async () => undefined,
      })
      return { fixes: findings.map(({ fix }) => fix), findings, unseen: [...connection.unseen] }
    } finally {
      connection.close()
    }
  }

  it('rlock doctor finds no missing right of the user that docs/operations/security.md lists', async function () {
    await needs(this, 'ACL DRYRUN')
    await setUser(...RIGHTS)
    const { missing, err } = await doctor('--names', 'lock:*')
    expect(missing, err).to.deep.equal([])
    expect(err).to.not.contain('which rights are missing')
  })

  it('rlock doctor does not say that nothing was found where its user may not see all', async () => {
    await setUser(...RIGHTS)
    const run = async (...args: string[]) =>
      (await rlock(['doctor', '--redis', server.url, ...args], { REDISCLI_AUTH: 'pw' })).out
    expect(await run('--user', 'app', '--names', 'lock:*')).to.equal('nothing found in what could be seen\n')
  })

  for (const [way, without, words] of [
    ['by ACL DRYRUN', /^$/, ['+acl|dryrun', '+acl|whoami']],
    ['by a script', /^$/, []],
    ['by a transaction that it discards', /^\+eval$/, ['+multi', '+discard']],
  ] as const)
    it(`rlock doctor names each missing right of the security page, ${way}`, async function () {
      if (words[0] !== '+multi') await needs(this, 'ACL DRYRUN')
      const all = [...RIGHTS, ...words].filter((right) => !without.test(right))
      await setUser(...all)
      const before = (await check(['lock:*'])).fixes
      expect(before).to.have.lengthOf(without.test('+eval') ? 1 : 0)
      for (const right of all) {
        // The script cannot be asked without the right to scripts.
        if (NOT_CHECKED.test(right) || (words.length === 0 && right === '+eval')) continue
        await setUser(...all.filter((each) => each !== right))
        const { fixes, unseen } = await check(['lock:*'])
        expect(unseen, right).to.deep.equal([])
        const named = right.startsWith('+') ? right : `'${right[0]}`
        expect(fixes.join(), right).to.contain(named)
        // What it says to grant is enough.
        for (const fix of fixes)
          await redis.call(
            'ACL',
            'SETUSER',
            ...fix
              .replace(/^redis-cli ACL SETUSER /, '')
              .replaceAll("'", '')
              .split(' '),
          )
        expect((await check(['lock:*'])).fixes, right).to.deep.equal([])
      }
    })

  it('rlock doctor says which keys and channels a user may not use, and what to grant', async function () {
    await needs(this, 'ACL DRYRUN')
    await setUser('~lock:*', '&redisson_lock__channel:{lock:*', '+@all')
    const { missing } = await doctor()
    const of = (part: string) => missing.find(({ fix }) => fix.includes(part))
    expect(of('redisson_lock_queue')).to.deep.equal({
      id: 'missing-right',
      level: 'warn',
      message: 'the user app may not use the keys redisson_lock_queue:{lock:*}, which these need: fair lock',
      page: addressOf('docs/operations/security.md'),
      fix: "redis-cli ACL SETUSER app '~redisson_lock_queue:{lock:*}'",
    })
    expect(of('redisson_sc').message).to.match(
      /channels redisson_sc:\{lock:\*\}.*semaphore, permit expirable semaphore/,
    )
    expect(of('redisson_lock__channel')).to.equal(undefined)
    expect(missing.map(({ fix }) => fix).filter((fix) => fix.includes('+'))).to.deep.equal([])
  })

  it('rlock doctor says that a user may read the keys of a lock and not write them', async function () {
    await needs(this, 'ACL DRYRUN')
    await setUser('%R~lock:*', '&*', '+@all')
    const { missing } = await doctor('--names', 'lock:*')
    const own = missing.find(({ fix }) => fix.endsWith("'~lock:*'"))
    expect(own.level).to.equal('error')
    expect(own.message).to.contain('may read, and not write, the keys lock:*')
  })

  it('rlock doctor says what it cannot know, and which names it needs', async function () {
    await needs(this, 'ACL DRYRUN')
    await setUser('~*', '&*', '+@all', '-acl', '-eval', '-multi')
    expect((await check()).unseen.join()).to.contain('which rights are missing')
    await setUser('~lock:*', '&*', '+@all', '-acl|getuser')
    expect((await check()).unseen.join()).to.contain('--names')
  })

  it('rlock doctor knows every command that a script calls', () => {
    const folders = [...new Set(Object.keys(luaSources).map((name) => name.split('/')[0]!))]
    const called = [...new Set(commandsOf(folders))]
    expect(called).to.include.members(['decr', 'decrby', 'zmscore'])
    expect(called.filter((command) => !RIGHTS.includes(`+${command}`))).to.deep.equal([])
  })

  it('rlock doctor finds the missing rights at every primary of a cluster', async function () {
    await needs(this, 'ACL DRYRUN')
    const user = ['user app on >pw', ...RIGHTS, ...IN_A_CLUSTER].join(' ')
    const cluster = await freshCluster({ config: ['appendonly yes', user] })
    const nodes = cluster.nodes.map(({ host, port }) => `redis://${host}:${port}`)
    const ask = async () =>
      (
        await rlock(
          ['doctor', '--redis', nodes[0]!, '--cluster', '--user', 'app', '--names', 'lock:*', '--json'],
          { REDISCLI_AUTH: 'pw' },
        )
      ).json.filter(({ id }) => id === 'missing-right')
    expect(await ask()).to.deep.equal([])
    await withClient(cluster.nodes[2]!, (node) => node.call('ACL', 'SETUSER', 'app', '-zadd'))
    const found = await ask()
    expect(found.map(({ fix }) => fix)).to.deep.equal(['redis-cli ACL SETUSER app +zadd'])
    expect(found[0].message).to.match(/fair lock, permit expirable semaphore/)
  })
})
