// npx tsx bench/watch/run.ts: two processes and a real Prometheus, while a slow holder, a lost lock and a dead server are planted.
// Writes bench/results/watch.json, of which bench/pictures/start.ts makes the pictures and the table of docs/operations/monitoring.md.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Redis from 'ioredis'
import { noPrometheus, Prometheus, type Series } from '../../test/kit/prometheus'
import { endWithThisProcess } from '../../test/kit/servers/left-behind'
import { startStandalone } from '../../test/kit/servers/standalone'
import { waitUntil } from '../../test/kit/servers/wait-until'
import type { Plant } from './app'
import type { WatchResults, WatchSeries } from './results'

const RESULTS = join(__dirname, '../results/watch.json')
const DASHBOARD = join(__dirname, '../../docs/operations/prometheus/dashboard.json')
const COMMAND = 'npx tsx bench/watch/run.ts'
/** Seconds. */
const SLOW_HOLDER = { at: 30, lasts: 15 }
const LOST_LOCK = { at: 65 }
const DEAD_SERVER = { at: 90, lasts: 15 }
const END = 130
const STEP = 1
/** Panels of which the page and its pictures have nothing. */
const NOT_SHOWN = ['Holds', 'How much of the time a lock is held']

async function run(): Promise<void> {
  const missing = noPrometheus()
  if (missing) throw new Error(missing)
  const server = await startStandalone()
  const apps = await Promise.all([startApp(server.url), startApp(server.url)])
  const prometheus = await Prometheus.start(
    apps.map(({ port }) => `127.0.0.1:${port}`),
    { everyMs: 500 },
  )
  try {
    // The first rates need samples before them.
    await sleep(10_000)
    const start = Date.now() / 1000
    const at = (second: number) => sleep(Math.max(0, (start + second) * 1000 - Date.now()))

    await at(SLOW_HOLDER.at)
    apps[0]!.child.send({ holdReportMs: SLOW_HOLDER.lasts * 1000 } satisfies Plant)
    await at(LOST_LOCK.at)
    await deleteAHeldLock(server.url)
    await at(DEAD_SERVER.at)
    await server.kill()
    await at(DEAD_SERVER.at + DEAD_SERVER.lasts)
    await server.restart({ keepData: false })
    await at(END)
    const results: WatchResults = {
      command: COMMAND,
      seconds: END,
      step: STEP,
      plants: [
        { title: 'slow holder', from: SLOW_HOLDER.at, to: SLOW_HOLDER.at + SLOW_HOLDER.lasts },
        { title: 'lost lock', from: LOST_LOCK.at, to: LOST_LOCK.at },
        { title: 'dead server', from: DEAD_SERVER.at, to: DEAD_SERVER.at + DEAD_SERVER.lasts },
      ],
      panels: await panels(prometheus, start),
    }
    writeFileSync(RESULTS, `${JSON.stringify(results)}\n`)
  } finally {
    for (const { child } of apps) child.kill('SIGKILL')
    await prometheus.stop()
    await server.stop()
  }
}

async function startApp(url: string): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(join(__dirname, 'app.ts'), [url], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  endWithThisProcess(child)
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { child, port }
}

/** As an operator's `DEL` does, or an eviction. */
async function deleteAHeldLock(url: string): Promise<void> {
  const redis = new Redis(url)
  await waitUntil('a lock is held and deleted', async () => {
    const [name] = await redis.keys('order:*')
    return name !== undefined && (await redis.del(name)) === 1
  })
  await redis.quit()
}

/** What the dashboard asks, over the run. */
async function panels(prometheus: Prometheus, start: number): Promise<Record<string, WatchSeries[]>> {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8'))
  const found: Record<string, WatchSeries[]> = {}
  for (const { title, targets } of panels.filter(
    (panel: { title: string }) => !NOT_SHOWN.includes(panel.title),
  ))
    for (const { expr, legendFormat } of targets) {
      const asked = expr
        .replaceAll('$group', '.*')
        .replaceAll('$__rate_interval', '5s')
        .replaceAll('$__range', '2m')
      const series = await prometheus.queryRange(asked, { start, end: start + END, step: STEP })
      found[title] = [...(found[title] ?? []), ...series.map((each) => placed(each, legendFormat, start))]
    }
  return found
}

function placed({ metric, values }: Series, legend: string, start: number): WatchSeries {
  const places = new Map(values.map(([at, value]) => [Math.round((at - start) / STEP), value]))
  return {
    title: legend.replace(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? ''),
    values: Array.from({ length: END / STEP + 1 }, (_, at) => {
      const value = places.get(at)
      return value === undefined || Number.isNaN(value) ? null : Number(value.toFixed(3))
    }),
  }
}

run().then(
  () => process.exit(0),
  (error: Error) => {
    console.error(`The run failed: ${error.message}`)
    process.exit(1)
  },
)
