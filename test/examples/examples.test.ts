import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Queue, QueueEvents } from 'bullmq'
import { expect } from 'chai'
import { openRedis } from '../kit/clients'
import { ownServer, waitUntil } from '../kit/servers/index'
import { Example, endExamples, FOLDER } from './example'

/** On a connection of its own: one that is kept alive would delay the end of the server. */
const POST = { method: 'POST', headers: { connection: 'close' } }

/** Every example is compiled with the rest (tsconfig.json), and run here against a real server. */
describe('The examples', function () {
  this.timeout(60_000)

  const server = ownServer()
  afterEach(async () => {
    await endExamples()
    const redis = await openRedis(server.url)
    await redis.flushall()
  })

  const run = (file: string, env: Record<string, string> = {}) =>
    new Example(file, { REDIS_URL: server.url, ...env })

  /** It ends by itself and well, and leaves no lock. */
  async function endsWell(example: Example): Promise<void> {
    expect(await example.exit, example.complaints).to.equal(0)
    expect(example.complaints).to.equal('')
    const redis = await openRedis(server.url)
    expect(await redis.keys('order:*')).to.deep.equal([])
  }

  it('An example has 40 lines at most, and a test here', () => {
    const here = ['examples.test.ts', 'prometheus.test.ts'].map((each) => join(__dirname, each))
    const tested = here.map((each) => readFileSync(each, 'utf8')).join()
    // Fencing needs the code of the resource as well; test/locks/fencing-examples.test.ts runs these.
    const files = readdirSync(FOLDER).filter((each) => /^(?!fencing-)[\w-]+\.ts$/.test(each))
    for (const file of files) {
      const lines = readFileSync(join(FOLDER, file), 'utf8').trimEnd().split('\n').length
      expect(lines, file).to.be.at.most(40)
      expect(tested).to.contain(`'${file}'`)
    }
  })

  it('The example plain.ts runs its section, tries for the lock, and ends', async () => {
    const example = run('plain.ts')
    await endsWell(example)
    expect(example.lines.map(({ text }) => text)).to.deep.equal(['done'])
  })

  for (const file of ['express.ts', 'fastify.ts', 'koa.ts'])
    it(`The example ${file} answers 409 during a payment, and ends after it`, async () => {
      const example = run(file)
      const address = await example.ready()
      const pay = async (id: number) => {
        const response = await fetch(`${address}/orders/${id}/pay`, POST)
        return [response.status, await response.text()]
      }
      const answers = await Promise.all([pay(42), pay(42), pay(7)])
      expect(answers.map(([status]) => status).sort()).to.deep.equal([200, 200, 409])
      expect(answers).to.deep.include.members([
        [200, 'paid 7'],
        [409, 'the order is being paid'],
      ])
      const last = pay(42)
      await untilLocked('order:42')
      example.end('SIGTERM')
      expect(await last).to.deep.equal([200, 'paid 42'])
      await endsWell(example)
    })

  it('The example nestjs.ts pays an order in turn, and ends after the request in flight', async () => {
    const example = run('nestjs.ts')
    const address = await example.ready()
    const pay = async () => {
      const response = await fetch(`${address}/orders/42/pay`, POST)
      return [await response.text(), Date.now()] as const
    }
    const [first, second] = await Promise.all([pay(), pay()])
    expect([first[0], second[0]]).to.deep.equal(['paid 42', 'paid 42'])
    expect(Math.abs(first[1] - second[1])).to.be.greaterThan(900)
    const last = pay()
    await untilLocked('order:42')
    example.end('SIGTERM')
    expect((await last)[0]).to.equal('paid 42')
    // Nest ends the process by the signal that it was sent.
    await example.exit
    expect(example.complaints).to.equal('')
    expect(await (await openRedis(server.url)).keys('order:*')).to.deep.equal([])
  })

  it('The example cron.ts runs at each tick in one of two instances', async () => {
    const period = 3_000
    const instances = [1, 2].map(() => run('cron.ts', { PERIOD: String(period) }))
    const ticksOf = ({ lines }: Example) =>
      new Map(lines.slice(1).map(({ text, at }) => [Math.floor(at / period), text]))
    const common = () => {
      const [one, other] = instances.map(ticksOf) as [Map<number, string>, Map<number, string>]
      return [...one].flatMap(([tick, text]) => (other.has(tick) ? [[text, other.get(tick)!].sort()] : []))
    }
    await waitUntil('both have ticked twice', () => common().length > 1)
    for (const texts of common()) expect(texts).to.deep.equal(['ran', 'skipped'])
    for (const instance of instances) instance.end('SIGTERM')
    for (const instance of instances) await endsWell(instance)
  })

  it('The example idempotency-key.ts answers a repeated payment as the first one', async () => {
    const instances = [1, 2].map(() => run('idempotency-key.ts'))
    const addresses = await Promise.all(instances.map((each) => each.ready()))
    const pay = async (at: number, headers: Record<string, string>, amount: number) => {
      const given = { ...POST.headers, 'content-type': 'application/json', ...headers }
      const sent = { method: 'POST', headers: given, body: JSON.stringify({ amount }) }
      const response = await fetch(`${addresses[at]}/payments`, sent)
      const { payment } = (await response.json()) as { payment?: number }
      return [response.status, payment]
    }
    const key = { 'idempotency-key': 'a1' }
    const first = pay(0, key, 5)
    await sleep(100)
    expect((await pay(1, key, 5))[0]).to.equal(409)
    expect(await first).to.deep.equal([201, 1])
    expect(await pay(1, key, 5)).to.deep.equal([201, 1])
    expect((await pay(1, key, 6))[0]).to.equal(422)
    expect((await pay(1, {}, 5))[0]).to.equal(400)
    for (const each of instances) each.end('SIGTERM')
    for (const each of instances) await endsWell(each)
  })

  it('The example node-cron.ts runs at each tick in one of two instances', async () => {
    const instances = [1, 2].map(() => run('node-cron.ts'))
    await Promise.all(instances.map((each) => each.ready()))
    const ticks = () =>
      instances.flatMap(({ lines }) => lines.map(({ text }) => text).filter((text) => text.startsWith('ran')))
    await waitUntil('three ticks', () => ticks().length >= 3)
    for (const each of instances) each.end('SIGTERM')
    for (const each of instances) await endsWell(each)
    expect(new Set(ticks()).size).to.equal(ticks().length)
  })

  it('The example nestjs-leader.ts polls in one replica, and in the next one after its end', async () => {
    const replicas = [1, 2].map(() => run('nestjs-leader.ts'))
    const polls = (at: number) => replicas[at]!.lines.length
    await waitUntil('one polls', () => polls(0) + polls(1) > 2)
    const leader = polls(0) > 0 ? 0 : 1
    expect(polls(1 - leader)).to.equal(0)
    replicas[leader]!.end('SIGTERM')
    await replicas[leader]!.exit
    // Not before its lease is over, if the leader had not handed over.
    await waitUntil('the other one polls', () => polls(1 - leader) > 2, 10_000)
    expect(replicas.map(({ complaints }) => complaints)).to.deep.equal(['', ''])
  })

  it('The example bullmq-once.ts gives the second job of a payment the result of the first', async () => {
    const example = run('bullmq-once.ts')
    const [host, port] = [new URL(server.url).hostname, Number(new URL(server.url).port)]
    const connection = { host, port }
    const queue = new Queue('payments', { connection })
    const events = new QueueEvents('payments', { connection })
    try {
      await events.waitUntilReady()
      await example.ready()
      const jobs = [await queue.add('pay', { payment: 7 }), await queue.add('pay', { payment: 7 })]
      const results = await Promise.all(jobs.map((job) => job.waitUntilFinished(events)))
      expect(results[0]).to.match(/^paid 7 in job \d+$/)
      expect(results[1]).to.equal(results[0])
    } finally {
      await queue.close()
      await events.close()
    }
    example.end('SIGTERM')
    await endsWell(example)
  })

  it('The example bullmq.ts runs the jobs of one order in turn, and ends after the last', async () => {
    const example = run('bullmq.ts')
    await waitUntil('the worker runs', () => example.lines.length > 0)
    const connection = { url: server.url }
    const queue = new Queue<{ order: string }>('pay', { connection })
    const events = new QueueEvents('pay', { connection })
    try {
      await events.waitUntilReady()
      const jobs = await queue.addBulk(['42', '42', '7'].map((order) => ({ name: 'pay', data: { order } })))
      const paid = await Promise.all(jobs.map((job) => job.waitUntilFinished(events, 20_000)))
      expect(paid).to.deep.equal(['paid 42', 'paid 42', 'paid 7'])
      const ends = await Promise.all(jobs.map(async ({ id }) => (await queue.getJob(id!))!.finishedOn!))
      expect(Math.abs(ends[0]! - ends[1]!), 'one after the other').to.be.at.least(700)
      const again = await Promise.all(jobs.map(async ({ id }) => (await queue.getJob(id!))!.attemptsMade))
      expect(again, 'a job that was delayed has not failed').to.deep.equal([1, 1, 1])

      const last = await queue.add('pay', { order: '8' })
      await untilLocked('order:8')
      example.end('SIGTERM')
      expect(await last.waitUntilFinished(events, 20_000)).to.equal('paid 8')
      await endsWell(example)
    } finally {
      await events.close()
      await queue.close()
    }
  })

  async function untilLocked(name: string): Promise<void> {
    const redis = await openRedis(server.url)
    await waitUntil('the lock is held', async () => (await redis.exists(name)) === 1)
    await sleep(20)
  }
})
