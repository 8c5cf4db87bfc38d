import { expect } from 'chai'
import { Redis } from 'ioredis'
import { ReplicaAckBatcher } from '../../src/redis/replica-ack/batcher'
import { OutageReporter } from '../../src/redis/reports/outage-reporter'
import { type Clock, systemClock } from '../../src/util/clock'
import { rejection, timed } from '../kit/clients'
import { JumpingClock } from '../kit/jumping-clock'
import { NO_PROXIES } from '../kit/replication'
import {
  type Standalone,
  skipInContainers,
  startProxy,
  startStandalone,
  startStandalones,
  waitUntil,
} from '../kit/servers/index'

describe('Acknowledgement by replicas', () => {
  let primary: Standalone
  let replica: Standalone
  let admin: Redis
  let redis: Redis
  let sending: ReplicaAckBatcher | undefined

  beforeEach(async () => {
    const servers = await startStandalones(
      { config: ['repl-diskless-sync-delay 0', 'user limited on >pw ~* &* +@all -wait'] },
      {},
    )
    ;[primary, replica] = servers as [Standalone, Standalone]
    admin = new Redis(primary.url)
  })
  afterEach(async () => {
    sending?.close()
    admin.disconnect()
    await primary.stop()
  })

  const waits = async () =>
    Number(/cmdstat_wait:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0)
  const attach = async () => {
    const control = new Redis(replica.url)
    await control.replicaof(primary.host, primary.port)
    control.disconnect()
    await waitUntil('the replica is online', async () =>
      /slave0:.*state=online/.test(await admin.info('replication')),
    )
  }
  const sender = (url: string, reported: string[], onCutOff = () => {}, clock: Clock = systemClock) => {
    redis = new Redis(url, { maxRetriesPerRequest: 0 })
    sending = new ReplicaAckBatcher(
      redis,
      () => url,
      { clock, replicasCutOff: onCutOff, replicated: () => {} },
      { slavesSyncTimeout: 500, checkLockSyncedSlaves: true },
      new OutageReporter(systemClock, { error: () => reported.push('no WAIT') }),
    )
    return sending
  }

  it('A command is not sent late by a process that stood still during the count (V196)', async () => {
    const clock = new JumpingClock()
    const sending = sender(primary.url, [], () => {}, clock)
    await redis.ping()
    const answer = rejection(sending.send(['incr', 'late']))
    // The question about the replicas is on its way, and its answer is not here.
    for (let turn = 0; turn < 5; turn++) await Promise.resolve()
    Object.assign(clock, { stood: 62_000, jumped: 62_000 })
    await answer
    expect(await admin.exists('late')).to.equal(0)
  })

  it('Thousands of commands go in several batches, so none is taken for silent (V201)', async () => {
    await attach()
    await admin.set('first', 1)
    expect(await admin.wait(1, 10_000)).to.equal(1)
    const before = await waits()
    const sending = sender(primary.url, [])
    const answers = Array.from({ length: 2_500 }, (_, index) => sending.send(['set', `key${index}`, 1]))
    expect((await Promise.all(answers)).every(({ acknowledged }) => acknowledged)).to.equal(true)
    expect((await waits()) - before).to.equal(3)
  })

  it('An old count of replicas does not decide that no replica need acknowledge (D4)', async () => {
    const reported: string[] = []
    const sending = sender(primary.url, reported)
    expect(sending.mayHaveReplicas).to.equal(true)
    expect(await sending.send(['set', 'a', '1'])).to.deep.equal({ value: 'OK', acknowledged: true })
    expect(await waits()).to.equal(0)
    expect(sending.mayHaveReplicas).to.equal(false)
    await attach()
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    expect(sending.mayHaveReplicas).to.equal(true)
    expect((await sending.send(['set', 'a', '2'])).acknowledged).to.equal(true)
    expect(await waits()).to.equal(1)
    expect(sending.mayHaveReplicas).to.equal(true)
    await replica.pause()
    expect((await sending.send(['set', 'a', '3'])).acknowledged).to.equal(false)
    await replica.resume()
    expect(reported).to.deep.equal([])
  })

  it('An acquisition waits for all replicas that keep up, and not again for one that lags (D4)', async function () {
    await skipInContainers(this, NO_PROXIES)
    const second = await startStandalone()
    const proxy = await startProxy(primary)
    const farther = new Redis(second.url)
    try {
      await attach()
      const bothFollow = () =>
        waitUntil('both replicas follow', async () => {
          await admin.set('b', '1')
          return (await admin.wait(2, 1_000)) === 2
        })
      // Its first copy straight, for the proxy knows commands only.
      await farther.replicaof(primary.host, primary.port)
      await bothFollow()
      await farther.replicaof(proxy.host, proxy.port)
      await bothFollow()
      const sending = sender(primary.url, [])
      proxy.delay(100)
      expect((await sending.send(['set', 'a', '1'])).acknowledged).to.equal(true)
      expect(await farther.get('a')).to.equal('1')
      proxy.stall()
      const waited = await timed(() => sending.send(['set', 'a', '2']))
      expect(waited).to.be.at.least(450)
      expect(await timed(() => sending.send(['set', 'a', '3']))).to.be.below(400)
      await replica.pause()
      expect((await sending.send(['set', 'a', '4'])).acknowledged).to.equal(false)
      await replica.resume()
    } finally {
      farther.disconnect()
      await proxy.stop()
      await second.stop()
    }
  })

  for (const right of ['info', 'wait'])
    it(`A user refused ${right.toUpperCase()} for a while is acknowledged afterwards (D4)`, async () => {
      await attach()
      await admin.call('ACL', 'SETUSER', 'limited', '+wait', `-${right}`)
      const reported: string[] = []
      const sending = sender(primary.url.replace('redis://', 'redis://limited:pw@'), reported)
      expect((await sending.send(['set', 'a', '1'])).acknowledged).to.equal(true)
      expect(reported).to.have.length(1)
      expect(await waits()).to.equal(0)
      await admin.call('ACL', 'SETUSER', 'limited', `+${right}`)
      await waitUntil('WAIT is asked for', async () => {
        await sending.send(['set', 'a', '2'])
        return (await waits()) > 0
      })
    })

  it('A primary that refuses writes for want of replicas is reported once for each outage', async () => {
    let reported = 0
    const sending = sender(primary.url, [], () => reported++)
    for (const times of [1, 2]) {
      await admin.config('SET', 'min-replicas-to-write', 1)
      for (const value of ['1', '2'])
        expect((await rejection(sending.send(['set', 'a', value]))).message).to.contain('NOREPLICAS')
      expect(reported).to.equal(times)
      await admin.config('SET', 'min-replicas-to-write', 0)
      await sending.send(['set', 'a', '3'])
    }
  })

  it('A replica-ack connection closed between reconnects leaves no request unanswered', async () => {
    const sending = sender(primary.url, [])
    await sending.send(['set', 'a', '1'])
    await primary.kill()
    await waitUntil('it is between two tries', () => redis.status === 'reconnecting')
    const answers = [sending.send(['set', 'a', '2']), sending.send(['set', 'a', '3'])].map((answer) =>
      rejection(answer),
    )
    sending.close()
    for (const error of await Promise.all(answers)) expect(error.message).to.contain('closed')
    expect((await rejection(sending.send(['set', 'a', '4']))).message).to.contain('closed')
  })

  it('A user without WAIT can use locks, and the missing right is reported once (D5)', async () => {
    await attach()
    const reported: string[] = []
    const sending = sender(`redis://limited:pw@${primary.host}:${primary.port}`, reported)
    for (const value of ['1', '2'])
      expect(await sending.send(['set', 'a', value])).to.deep.equal({ value: 'OK', acknowledged: true })
    expect(reported).to.deep.equal(['no WAIT'])
  })
})
