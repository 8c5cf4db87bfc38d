import { channel } from 'node:diagnostics_channel'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { context, type Span, SpanStatusCode, trace } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { expect } from 'chai'
import { closeAll, createRedisson, openRedis, rejection } from '../../../test/kit/clients'
import { clientAndRedis, lock, name, redisson } from '../../../test/kit/each-test'
import { Program } from '../../../test/kit/program'
import { sharedStandalone, waitUntil } from '../../../test/kit/servers/index'
import { type Tap, tapped } from '../../../test/kit/tapped-transport'
import { type Instrumentation, type InstrumentOptions, instrument } from '../src/index'
import { Recorder } from './recorder'

const CHANNELS = ['acquire:start', 'acquire:asyncEnd', 'hold:start', 'hold:asyncEnd']
  .map((each) => `tracing:rlock:${each}`)
  .concat('rlock:renew')

describe('@rlock/opentelemetry', () => {
  let recorder: Recorder
  let instrumentation: Instrumentation
  /** By other tests of this process: an example of a page subscribes for as long as its process lives. */
  let subscribedBefore: string[]

  before(() => {
    subscribedBefore = subscribed()
  })
  clientAndRedis('telemetry')
  beforeEach(() => {
    recorder = new Recorder()
    start()
  })
  afterEach(async () => {
    instrumentation.disable()
    await closeAll()
    await recorder.stop()
  })

  function start(options: InstrumentOptions = {}) {
    instrumentation?.disable()
    const { tracerProvider, meterProvider } = recorder
    instrumentation = instrument({ tracerProvider, meterProvider, ...options })
  }

  const subscribed = () => CHANNELS.filter((each) => channel(each).hasSubscribers)
  const seriesOf = async (metric: string) => (await recorder.metrics())[metric]?.series ?? []
  const idOf = (span: Span | ReadableSpan) => span.spanContext().spanId
  const linksOf = (span: ReadableSpan | undefined) => span?.links.map(({ context: { spanId } }) => spanId)

  /** Runs `fn` in a span of the application. */
  async function inSpan<T>(fn: () => Promise<T>): Promise<{ root: Span; result: T }> {
    const root = recorder.tracerProvider.getTracer('test').startSpan('request')
    const result = await context.with(trace.setSpan(context.active(), root), fn)
    root.end()
    return { root, result }
  }

  it('Acquisition and hold are two spans below the active one; the hold spans the section', async () => {
    const { root } = await inSpan(() => redisson.getLock(name).withLock(() => sleep(20)))
    const [acquire, hold] = recorder.spans
    expect([acquire?.name, hold?.name]).to.deep.equal(['lock.acquire', 'lock.hold'])
    for (const span of [acquire, hold]) {
      expect(span?.parentSpanContext?.spanId).to.equal(idOf(root))
      expect(span?.spanContext().traceId).to.equal(root.spanContext().traceId)
      expect(span?.status.code).to.equal(SpanStatusCode.UNSET)
    }
    expect(acquire?.attributes).to.deep.equal({ 'lock.kind': 'lock', 'lock.outcome': 'acquired' })
    expect(hold?.attributes).to.deep.equal({ 'lock.kind': 'lock', 'lock.outcome': 'released' })
    expect(hold!.duration[1]).to.be.at.least(18_000_000)
  })

  it('A wait is linked to the hold for which it waited, and to the last of several', async () => {
    const other = await createRedisson()
    const first = await redisson.getLock(name).acquire()
    const waits = [redisson, other].map((each) => each.getLock(name).withLock(() => {}))
    await waitUntil('both wait', () => redisson.waiters().length + other.waiters().length === 2)
    await first.unlock()
    await Promise.all(waits)
    const [firstHold, secondHold] = recorder.spansOf('lock.hold')
    const [free, second, third] = recorder.spansOf('lock.acquire')
    expect(linksOf(free)).to.deep.equal([])
    expect(linksOf(second)).to.deep.equal([idOf(firstHold!)])
    expect(linksOf(third)).to.deep.equal([idOf(firstHold!), idOf(secondHold!)])
  })

  it('Waits are measured in seconds by their outcome, and no attribute has the name of the lock', async () => {
    const hold = await (await createRedisson()).getLock(name).acquire()
    expect(await redisson.getLock(name).tryAcquire({ waitTime: 30 })).to.equal(undefined)
    const controller = new AbortController()
    const waiting = rejection(redisson.getLock(name).acquire({ signal: controller.signal }))
    const { series: waiters, unit } = (await recorder.metrics())['lock.client.waiters']!
    expect(waiters).to.deep.equal([{ attributes: { 'lock.kind': 'lock' }, value: 1 }])
    expect(unit).to.equal('{waiter}')
    controller.abort()
    await waiting
    await hold.unlock()
    await (await openRedis()).set(`${name}:string`, 'no lock')
    await rejection(redisson.getLock(`${name}:string`).lock())
    const metrics = await recorder.metrics()
    const waits = metrics['lock.client.wait.duration']!
    expect(waits.unit).to.equal('s')
    expect(
      waits.series.map(({ attributes, value }) => [attributes['lock.outcome'], value.count]),
    ).to.deep.equal([
      ['acquired', 1],
      ['timeout', 1],
      ['aborted', 1],
      ['error', 1],
    ])
    expect(waits.series[1]!.value.sum).to.be.within(0.02, 1)
    expect(waits.series[0]!.value.buckets.boundaries).to.include.members([0.001, 0.25, 60])
    expect(metrics['lock.client.waiters']!.series[0]!.value).to.equal(0)
    expect(metrics['lock.client.holds']!.series[0]!.value).to.equal(0)
    expect(metrics['lock.client.hold.duration']!.series[0]!.attributes).to.deep.equal({
      'lock.kind': 'lock',
      'lock.outcome': 'released',
    })
    const told = [
      metrics,
      recorder.spans.map(({ attributes, events, status }) => [attributes, events, status]),
    ]
    expect(inspect(told, { depth: 20 })).to.not.contain(name)
    const [failed] = recorder.spansOf('lock.acquire').slice(-1)
    expect(failed?.status.code).to.equal(SpanStatusCode.ERROR)
    expect(failed?.attributes['error.type']).to.equal('WrongTypeError')
  })

  it('The instruments are six, in seconds and UCUM units; a refused wait is `refused`', async () => {
    const troubles = [() => Promise.reject(new Error('NOPERM no right')), undefined]
    const tap: Tap = ({ name: script, pass }) => {
      if (script === 'lock/acquire') return troubles.shift()?.() ?? pass()
      return script === 'lock/renew' ? Promise.reject(new Error('NOPERM no right')) : pass()
    }
    const brief = await createRedisson({ lockWatchdogTimeout: 600 }, { transport: tapped(tap) })
    await rejection(brief.getLock(name).lock())
    const hold = await brief.getLock(name).acquire()
    await waitUntil('it is lost', () => hold.signal.aborted)
    const metrics = await recorder.metrics()
    const units = Object.entries(metrics).map(([metric, { unit }]) => [metric, unit])
    expect(Object.fromEntries(units)).to.deep.equal({
      'lock.client.wait.duration': 's',
      'lock.client.hold.duration': 's',
      'lock.client.holds': '{hold}',
      'lock.client.waiters': '{waiter}',
      'lock.client.losses': '{loss}',
      'lock.client.renewal.failures': '{failure}',
    })
    const waits = metrics['lock.client.wait.duration']!.series
    expect(waits.map(({ attributes }) => attributes['lock.outcome'])).to.have.members(['refused', 'acquired'])
    const [refused] = recorder.spansOf('lock.acquire')
    expect(refused?.attributes).to.include({ 'lock.outcome': 'refused', 'error.type': 'RedisRefusedError' })
    expect(refused?.status.code).to.equal(SpanStatusCode.ERROR)
  })

  it('Holds are counted while they last', async () => {
    const hold = await redisson.getLock(name).acquire()
    const permits = redisson.getPermitExpirableSemaphore(`${name}:permits`)
    await permits.trySetPermits(1)
    await permits.acquirePermit()
    expect(await seriesOf('lock.client.holds')).to.deep.equal([
      { attributes: { 'lock.kind': 'lock' }, value: 1 },
      { attributes: { 'lock.kind': 'permit' }, value: 1 },
    ])
    await hold.unlock()
    expect((await seriesOf('lock.client.holds'))[0]!.value).to.equal(0)
  })

  it('A loss is counted by its reason, and ends the span of the hold with an error', async () => {
    await lock.lock()
    await lock.forceUnlock()
    expect(await seriesOf('lock.client.losses')).to.deep.equal([
      { attributes: { 'lock.kind': 'lock', 'lock.reason': 'forced' }, value: 1 },
    ])
    const [hold] = recorder.spansOf('lock.hold')
    expect(hold?.attributes).to.include({ 'lock.outcome': 'lost', 'lock.reason': 'forced' })
    expect(hold?.attributes['error.type']).to.equal('LockLostError')
    expect(hold?.status.code).to.equal(SpanStatusCode.ERROR)
    expect(hold?.events).to.deep.equal([])
  })

  it('Renewals make no spans; those that fail are counted', async () => {
    let failures = 2
    const tap: Tap = ({ name: script, pass }) =>
      script === 'lock/renew' && failures-- > 0 ? Promise.reject(new Error('NOPERM no right')) : pass()
    const transport = tapped(tap)
    const brief = await createRedisson({ lockWatchdogTimeout: 900 }, { transport })
    await inSpan(() => brief.getLock(name).withLock(() => sleep(1_500)))
    expect(await seriesOf('lock.client.renewal.failures')).to.deep.equal([
      { attributes: { 'lock.kind': 'lock' }, value: 2 },
    ])
    expect(recorder.spans.map((span) => span.name)).to.deep.equal(['lock.acquire', 'lock.hold', 'request'])
  })

  it('The group is an attribute of spans and metrics; a group function that throws gives none', async () => {
    start({ group: (lock, kind) => (kind === 'lock' ? lock.split(':')[0] : undefined) })
    await redisson.getLock(name).withLock(() => {})
    expect(recorder.spans.map(({ attributes }) => attributes['lock.group'])).to.deep.equal([
      'telemetry',
      'telemetry',
    ])
    for (const metric of ['lock.client.wait.duration', 'lock.client.holds'])
      expect((await seriesOf(metric))[0]!.attributes['lock.group']).to.equal('telemetry')
    start({
      group: () => {
        throw new Error('no group')
      },
    })
    await redisson.getLock(name).withLock(() => {})
    expect(recorder.spans.at(-1)?.attributes).to.not.have.property('lock.group')
  })

  it('With lockNames, spans have the name and the error, and metrics still have no name', async () => {
    start({ lockNames: true })
    await lock.lock()
    await lock.forceUnlock()
    const [hold] = recorder.spansOf('lock.hold')
    expect(hold?.attributes['lock.name']).to.equal(name)
    expect(hold?.events[0]?.attributes?.['exception.message']).to.contain(name)
    expect(inspect(await recorder.metrics(), { depth: 20 })).to.not.contain(name)
  })

  it('disable() ends what is open, unsubscribes, and may be called again; `using` calls it', async () => {
    const hold = await redisson.getLock(name).acquire()
    const waiting = (await createRedisson()).getLock(name).acquire()
    await sleep(20)
    instrumentation[Symbol.dispose]()
    instrumentation.disable()
    expect(recorder.spans.map((span) => span.name)).to.have.members([
      'lock.acquire',
      'lock.acquire',
      'lock.hold',
    ])
    const metrics = await recorder.metrics()
    expect(metrics['lock.client.waiters']!.series[0]!.value).to.equal(0)
    expect(metrics['lock.client.holds']!.series[0]!.value).to.equal(0)
    await hold.unlock()
    await (await waiting).unlock()
    expect(recorder.spans).to.have.lengthOf(3)
    expect(subscribed()).to.deep.equal(subscribedBefore)
  })

  it('What began before instrument() is not counted, and so its end is not either', async () => {
    instrumentation.disable()
    const hold = await redisson.getLock(name).acquire()
    start()
    await hold.unlock()
    expect(recorder.spans).to.deep.equal([])
    expect(await seriesOf('lock.client.holds')).to.deep.equal([])
  })

  it('Two processes make one trace: each puts its spans below the span that it was given', async () => {
    const { url } = await sharedStandalone()
    const { root, result } = await inSpan(async () => {
      const hold = await redisson.getLock(name).acquire()
      const { traceId, spanId } = trace.getActiveSpan()!.spanContext()
      process.env.TRACEPARENT = `00-${traceId}-${spanId}-01`
      const file = join('../../../packages/opentelemetry/test/worker.ts')
      const worker = new Program(file, url, name)
      expect(await worker.line()).to.equal('waits')
      await sleep(50)
      await hold.unlock()
      const line = await worker.line()
      expect(await worker.exit).to.equal(0)
      delete process.env.TRACEPARENT
      return JSON.parse(line) as { name: string; traceId: string; parent: string; outcome: string }[]
    })
    const { traceId, spanId } = root.spanContext()
    expect(result).to.deep.equal([
      { name: 'lock.acquire', traceId, parent: spanId, outcome: 'acquired' },
      { name: 'lock.hold', traceId, parent: spanId, outcome: 'released' },
    ])
    expect(new Set(recorder.spans.map((span) => span.spanContext().traceId))).to.deep.equal(
      new Set([traceId]),
    )
  })
})
