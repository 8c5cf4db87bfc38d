import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import type { FencedLockHold, Redisson } from '../../../src/index'
import { createRedisson, openRedis, uniqueName } from '../../kit/clients'
import { stillPending } from '../../kit/observing'
import { NO_PROXIES, replicateThroughProxies, roles, through } from '../../kit/replication'
import {
  type Address,
  freshSentinel,
  type SentinelSetup,
  skipInContainers,
  type TcpProxy,
  waitUntil,
  withClient,
} from '../../kit/servers/index'

const PATIENT = { unavailableAfter: 30_000 }
const SYNC = 2_000

/** The fence of the resource, as docs/guides/fenced-lock.md shows it. */
const EXAMPLE = readFileSync(join(__dirname, '../../../examples/fencing-redis.ts'), 'utf8')
const [, WRITE_FENCED = ''] = /WRITE_FENCED = `(.*?)`/s.exec(EXAMPLE) ?? []

describe('The tokens of a fenced lock over a failover', () => {
  let setup: SentinelSetup
  let proxies: TcpProxy[] = []
  let name: string

  beforeEach(async () => {
    setup = await freshSentinel()
    name = uniqueName('fenced')
  })

  const connected = () =>
    createRedisson({ redis: through(setup), slavesSyncTimeout: SYNC, lockWatchdogTimeout: 9_600 }, PATIENT)
  const counterAt = (address: Address) =>
    withClient(address, async (client) => Number(await client.get(`redisson_lock_token:{${name}}`)))

  /** A sentinel would promote it else. */
  async function knownAsDown({ port }: Address) {
    for (const sentinel of setup.sentinels)
      await waitUntil('the sentinels know that a replica is down', () =>
        withClient(sentinel, async (client) => {
          const replicas = (await client.call('SENTINEL', 'REPLICAS', setup.name)) as string[][]
          return replicas.some((fields) => fields.includes(String(port)) && /s_down/.test(fields.join()))
        }),
      )
  }

  it('A failover that loses a token no replica had gives it to one holder only (F3, F4)', async function () {
    await skipInContainers(this, NO_PROXIES)
    const [one, other] = [await connected(), await connected()]
    const { primary, replicas } = await roles(setup)
    proxies = await replicateThroughProxies(setup, primary, replicas)
    const tokens = [await one.getFencedLock(name).withLock(({ token }) => token)]
    for (const proxy of proxies) proxy.stall()
    const draw = (client: Redisson) =>
      client.getFencedLock(name).withLock(({ token }) => void tokens.push(token))
    const unanswered = draw(one)
    await waitUntil('the primary has drawn a token', async () => (await counterAt(primary)) === 2)
    expect(await stillPending(unanswered), 'no replica has it').to.equal(true)
    await primary.kill()
    const drawing = [unanswered, draw(other), draw(one), draw(other)]
    await setup.waitForNewPrimary(primary)
    await Promise.all(drawing)
    expect(tokens).to.have.length(5)
    for (const [index, token] of tokens.entries())
      expect(token, `tokens in the order of the grants: ${tokens}`).to.be.greaterThan(tokens[index - 1] ?? 0)
    expect(await counterAt(await setup.primary())).to.equal(tokens.at(-1))
  })

  it('A failover that loses a token gives it twice, and the rule lets in one (F4)', async function () {
    await skipInContainers(this, NO_PROXIES)
    const [one, other] = [await connected(), await connected()]
    const { primary, replicas } = await roles(setup)
    proxies = await replicateThroughProxies(setup, primary, [replicas[1]])
    expect(await one.getFencedLock(name).withLock(({ token }) => token)).to.equal(1)
    await waitUntil('both replicas have it', async () => (await counterAt(replicas[1])) === 1)
    proxies[0]!.stall()
    const overtaken = await one.getFencedLock(name).acquire()
    await replicas[0].kill()
    await knownAsDown(replicas[0])
    await primary.kill()
    const acquiring = other.getFencedLock(name).acquire()
    await setup.waitForNewPrimary(primary)
    const successor = await acquiring
    expect([overtaken.token, successor.token], 'what the replica that was promoted had not').to.deep.equal([
      2, 2,
    ])

    const { host, port } = await setup.primary()
    const resource = await openRedis(`redis://${host}:${port}`)
    const write = async (client: Redisson, { token, threadId }: FencedLockHold) => {
      const owner = `${client.getId()}:${threadId}`
      return await resource.eval(WRITE_FENCED, 2, `{${name}}:data`, `{${name}}:fence`, token, owner, owner)
    }
    expect(await write(other, successor)).to.equal(1)
    expect(await write(one, overtaken), 'an equal token of another holder').to.equal(0)
    expect(await write(other, successor), 'an equal token of the same holder').to.equal(1)
    await successor.unlock()
    await waitUntil('the one that was overtaken learns of it', () => overtaken.signal.aborted, 10_000)
    expect(await one.getFencedLock(name).withLock(({ token }) => token)).to.equal(3)
  })
})
