// Figures of all locks of this process for Prometheus, with `prom-client` and without OpenTelemetry.
import { tracingChannel } from 'node:diagnostics_channel'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

type Labels = { kind: string; group: string }
/** Those of `rlock:acquire` and `rlock:hold`; times are in ms. */
type Message = Record<'name' | 'kind' | 'outcome' | 'reason', string> & Record<'duration' | 'heldFor', number>

/** Call it once. `groupOf` needs few answers: each makes time series, and the number of lock names has no bound. */
export function measureLocks(register: Registry, groupOf: (name: string) => string): void {
  const buckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
  const metric = (name: string, help: string, ...labelNames: string[]) => {
    return { name, help, labelNames, registers: [register] }
  }
  const wait = metric('rlock_wait_seconds', 'How long calls waited', 'kind', 'group', 'outcome')
  const waits = new Histogram({ ...wait, buckets })
  const hold = metric('rlock_hold_seconds', 'How long locks were held', 'kind', 'group')
  const holds = new Histogram({ ...hold, buckets })
  const waiting = new Gauge(metric('rlock_waiters', 'Calls that wait now', 'kind', 'group'))
  const held = new Gauge(metric('rlock_holds', 'Locks that are held now', 'kind', 'group'))
  const losses = new Counter(metric('rlock_losses_total', 'Locks that were lost while held', 'reason'))
  for (const reason of ['lease', 'limit', 'gone', 'forced']) losses.inc({ reason }, 0) // else the first loss is no increase

  const measure = (channelName: string, now: Gauge, ended: (message: Message, labels: Labels) => void) => {
    const { start, asyncEnd } = tracingChannel<unknown, Message>(channelName)
    const labels = ({ kind, name }: Message) => ({ kind, group: groupOf(name) })
    start.subscribe((message) => now.inc(labels(message as Message)))
    asyncEnd.subscribe((message) => {
      now.dec(labels(message as Message))
      ended(message as Message, labels(message as Message))
    })
  }
  measure('rlock:acquire', waiting, ({ outcome, duration }, labels) =>
    waits.observe({ ...labels, outcome }, duration / 1e3),
  )
  measure('rlock:hold', held, ({ heldFor, outcome, reason }, labels) => {
    holds.observe(labels, heldFor / 1e3)
    if (outcome === 'lost') losses.inc({ reason })
  })
}
