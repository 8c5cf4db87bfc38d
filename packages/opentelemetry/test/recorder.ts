import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'

/** One series: its attributes, and its value: a sum, or what a histogram has. */
export interface Series {
  readonly attributes: Record<string, unknown>
  // biome-ignore lint/suspicious/noExplicitAny: a number or a histogram; each test knows which.
  readonly value: any
}

/** The real SDK, which exports into memory. */
export class Recorder {
  private readonly exportedSpans = new InMemorySpanExporter()
  private readonly exportedMetrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  readonly tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(this.exportedSpans)],
  })
  readonly meterProvider = new MeterProvider({
    readers: [
      new PeriodicExportingMetricReader({ exporter: this.exportedMetrics, exportIntervalMillis: 3_600_000 }),
    ],
  })

  constructor() {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  }

  get spans(): ReadableSpan[] {
    return this.exportedSpans.getFinishedSpans()
  }

  /** The spans of this name, in the order of their ends. */
  spansOf(name: string): ReadableSpan[] {
    return this.spans.filter((span) => span.name === name)
  }

  /** Every metric by its name, as it is now. */
  async metrics(): Promise<Record<string, { unit: string; series: Series[] }>> {
    this.exportedMetrics.reset()
    await this.meterProvider.forceFlush()
    const all = this.exportedMetrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics)
    return Object.fromEntries(
      all
        .flatMap(({ metrics }) => metrics)
        .map(({ descriptor, dataPoints }) => [
          descriptor.name,
          {
            unit: descriptor.unit,
            series: dataPoints.map(({ attributes, value }) => ({ attributes: { ...attributes }, value })),
          },
        ]),
    )
  }

  async stop(): Promise<void> {
    context.disable()
    await this.tracerProvider.shutdown()
    await this.meterProvider.shutdown()
  }
}
