/**
 * A process that goes on with the trace of another one: it takes the lock, and prints its spans. TRACEPARENT is the span of the
 * other process. Arguments: URL, name of the lock. Prints `waits` before.
 */
import { context, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { Redisson } from 'rlock'
import { instrument } from '../src/index'
import { Recorder } from './recorder'

const [redis = '', name = ''] = process.argv.slice(2)
const [, traceId = '', spanId = '', traceFlags = ''] = process.env.TRACEPARENT!.split('-')

async function main() {
  const recorder = new Recorder()
  const { tracerProvider, meterProvider } = recorder
  const instrumentation = instrument({ tracerProvider, meterProvider })
  const redisson = await Redisson.create({ redis })
  const parent = { traceId, spanId, traceFlags: Number(traceFlags), isRemote: true }
  await context.with(trace.setSpanContext(ROOT_CONTEXT, parent), async () => {
    console.log('waits')
    await redisson.getLock(name).withLock(() => {})
  })
  await redisson.shutdown()
  instrumentation.disable()
  const spans = recorder.spans.map((span) => ({
    name: span.name,
    traceId: span.spanContext().traceId,
    parent: span.parentSpanContext?.spanId,
    outcome: span.attributes['lock.outcome'],
  }))
  console.log(JSON.stringify(spans))
  await recorder.stop()
}
void main()
