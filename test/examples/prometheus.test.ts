import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { openRedis } from '../kit/clients'
import { examplesIn } from '../kit/docs/pages'
import { noPrometheus, Prometheus } from '../kit/prometheus'
import { freePorts } from '../kit/servers/free-ports'
import { type Standalone, startStandalone, waitUntil } from '../kit/servers/index'
import { removeWithThisProcess } from '../kit/servers/left-behind'
import { Example, endExamples } from './example'

const ROOT = join(__dirname, '../..')
/** Its blocks and this test belong together. */
const PAGE = 'docs/operations/monitoring.md'
const FOLDER = join(ROOT, 'docs/operations/prometheus')
const ALERTS = readFileSync(join(FOLDER, 'alerts.yml'), 'utf8')
const NAMES = [
  'rlock_wait_seconds',
  'rlock_hold_seconds',
  'rlock_holds',
  'rlock_waiters',
  'rlock_losses_total',
] as const

const WAYS = ['prom-client', 'OpenTelemetry'] as const
type Way = (typeof WAYS)[number]

interface Dashboard {
  readonly panels: readonly {
    readonly title: string
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
  }[]
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] }
}
const DASHBOARD: Dashboard = JSON.parse(readFileSync(join(FOLDER, 'dashboard.json'), 'utf8'))
const QUERIES = DASHBOARD.panels.flatMap(({ title, targets }) =>
  targets.map(({ expr, legendFormat }) => ({ title, expr, legendFormat })),
)

/**
 * The example prometheus-app.ts with its 'prometheus.ts', and before it OpenTelemetry as docs/operations/monitoring.md writes it: two real
 * Prometheus scrape one process with traffic: calls that wait, calls that are too late, a lost lock.
 */
describe('Locks in Prometheus', function () {
  this.timeout(90_000)

  let server: Standalone
  const watching: Partial<Record<Way, Prometheus>> = {}
  let metrics: string
  const seconds = () => Date.now() / 1000
  let began: number

  before(async function () {
    const reason = noPrometheus()
    if (reason) {
      console.warn(`      Skipped: ${reason}`)
      return this.skip()
    }
    server = await startStandalone()
    const [port] = await freePorts(1)
    const env = { REDIS_URL: server.url }
    const app = new Example('prometheus-app.ts', env, [instrumentation(port!)])
    const address = await app.ready()
    const more = readFileSync(join(FOLDER, 'opentelemetry.yml'), 'utf8')
    watching['prom-client'] = await Prometheus.start([new URL(address).host])
    watching.OpenTelemetry = await Prometheus.start([`127.0.0.1:${port}`], { more })
    for (const prometheus of Object.values(watching))
      await waitUntil(
        'the first scrape is there',
        async () => (await prometheus.query('up == 1')).length === 1,
      )
    began = seconds()
    await traffic(address)
    metrics = await (await fetch(`${address}/metrics`)).text()
    for (const prometheus of Object.values(watching))
      await waitUntil('the last call is scraped', async () => {
        const [series] = await prometheus.query('sum(rlock_hold_seconds_count)')
        return series?.values[0]?.[1] === holdsIn(metrics)
      })
  })
  after(async () => {
    for (const prometheus of Object.values(watching)) await prometheus.stop()
    await endExamples()
    await server?.stop()
  })

  async function traffic(address: string): Promise<void> {
    const pay = async (id: number) =>
      (await fetch(`${address}/orders/${id}/pay`, { method: 'POST', headers: { connection: 'close' } }))
        .status
    const redis = await openRedis(server.url)
    const lost = pay(7)
    await waitUntil('the lock is held', async () => (await redis.exists('order:7')) === 1)
    await redis.del('order:7')
    expect(await Promise.all([pay(42), pay(42), pay(42)])).to.have.members([200, 409, 409])
    expect(await lost).to.equal(500)
    // A rate needs two samples of a series, and the first has the timeouts above.
    expect(await Promise.all([pay(42), pay(42)])).to.have.members([200, 409])
    expect(await Promise.all([1, 2, 3].map(pay))).to.deep.equal([200, 200, 200])
  }

  it('The names are those of the page, and no label has the name of a lock', () => {
    const found = [...metrics.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name)
    expect(found).to.have.members([...NAMES])
    expect(metrics).to.not.match(/order:/)
    expect(metrics).to.match(
      /^rlock_wait_seconds_count\{(?=.*kind="lock")(?=.*outcome="acquired")(?=.*group="order").*\} 6$/m,
    )
    expect(metrics).to.match(/^rlock_wait_seconds_count\{.*outcome="timeout".*\} 3$/m)
    expect(metrics).to.match(/^rlock_losses_total\{reason="gone"\} 1$/m)
    expect(metrics).to.match(/^rlock_losses_total\{reason="lease"\} 0$/m)
    for (const gauge of ['rlock_holds', 'rlock_waiters'])
      expect(metrics).to.match(new RegExp(`^${gauge}\\{kind="lock",group="order"\\} 0$`, 'm'))
  })

  it('OpenTelemetry has the same names in Prometheus, and no label has the name of a lock', async () => {
    const series = await watching.OpenTelemetry!.query('{__name__=~"rlock_.+|lock_.+"}')
    const found = new Set(series.map(({ metric }) => metric.__name__!.replace(/_(bucket|count|sum)$/, '')))
    expect([...found]).to.have.members([...NAMES])
    expect(JSON.stringify(series)).to.not.match(/order:/)
    const [acquired] = await watching.OpenTelemetry!.query('rlock_wait_seconds_count{outcome="acquired"}')
    expect(acquired?.metric).to.include({ kind: 'lock', group: 'order' }).and.not.have.property('lock_kind')
    expect(acquired?.values[0]?.[1]).to.equal(6)
  })

  for (const way of WAYS)
    describe(`by ${way}`, () => {
      let prometheus: Prometheus
      before(() => {
        prometheus = watching[way]!
      })

      /** What a query of the dashboard gives while the calls were made. */
      const shown = (query: string) => {
        const asked = query
          .replaceAll('$group', '.*')
          .replaceAll('$__rate_interval', '2s')
          .replaceAll('$__range', '1m')
        return prometheus.queryRange(asked, { start: began, end: seconds(), step: 0.2 })
      }

      it('A scrape in the middle saw a holder and a waiter', async () => {
        for (const gauge of ['rlock_holds', 'rlock_waiters']) {
          const [most] = await prometheus.query(`max(max_over_time(${gauge}[1m]))`)
          expect(most?.values[0]?.[1], gauge).to.be.greaterThan(0)
        }
      })

      for (const { title, expr, legendFormat } of QUERIES)
        it(`The dashboard's "${title}" has data, and what its legend names: ${expr}`, async () => {
          const series = await shown(expr)
          const values = series.flatMap((each) => each.values.map(([, value]) => value))
          expect(values.filter((value) => value > 0 && Number.isFinite(value))).to.not.deep.equal([])
          const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!)
          for (const { metric } of series) expect(metric).to.have.keys(labels)
        })

      it('The dashboard shows the reason of the lost lock', async () => {
        const series = await shown(QUERIES.find(({ title }) => title === 'Lost locks')!.expr)
        const most = series.map(({ metric, values }) => [
          metric.reason,
          Math.round(Math.max(...values.map(([, value]) => value))),
        ])
        const never = way === 'prom-client' ? { lease: 0, limit: 0, forced: 0 } : {}
        expect(Object.fromEntries(most)).to.deep.equal({ gone: 1, ...never })
      })

      it('The list of groups that the dashboard offers has data', async () => {
        const { query } = DASHBOARD.templating.list.find(({ name }) => name === 'group')!
        const [, metric, label] = /^label_values\((\w+), (\w+)\)$/.exec(query)!
        const series = await prometheus.query(`group by (${label}) (${metric})`)
        expect(series.map(({ metric }) => metric[label!])).to.deep.equal(['order'])
      })

      it('The alert of a lost lock fires on the lock that was lost', async () => {
        const [, lost] = /alert: RlockLockLost\n(?: +#.*\n)? +expr: >-\n([\s\S]*?)\n +labels/.exec(ALERTS)!
        const series = await prometheus.query(lost!)
        expect(series.map(({ metric }) => metric)).to.deep.equal([{ reason: 'gone' }])
      })
    })

  it('The rules of the alerts pass their tests in promtool', async () => {
    const { stdout } = await promisify(execFile)('promtool', ['test', 'rules', 'alerts.test.yml'], {
      cwd: FOLDER,
    })
    expect(stdout).to.contain('SUCCESS')
  })

  it('Each alert has a test, and names a section of the page about trouble', () => {
    const tests = readFileSync(join(FOLDER, 'alerts.test.yml'), 'utf8')
    for (const [, alert] of ALERTS.matchAll(/- alert: (\w+)/g))
      expect(tests).to.match(new RegExp(`alertname: ${alert}\\n +exp_alerts:\\n`))
    const page = readFileSync(join(FOLDER, '../troubleshooting.md'), 'utf8').replaceAll('`', '')
    for (const [, section] of ALERTS.matchAll(/runbook: (.+)/g))
      expect(page).to.match(new RegExp(`^###? ${section}$`, 'm'))
  })
})

/** The block of the page that starts OpenTelemetry's exporter, as a file that Node loads before the application. */
function instrumentation(port: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'rlock-opentelemetry-'))
  removeWithThisProcess(folder)
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir')
  const { code } = examplesIn(PAGE).find(({ code }) => code.includes('new PrometheusExporter('))!
  const file = join(folder, 'instrumentation.mts')
  const source = pathToFileURL(join(ROOT, 'packages/opentelemetry/src/index.ts')).href
  writeFileSync(file, code.replace('9464', String(port)).replace("'@rlock/opentelemetry'", `'${source}'`))
  return file
}

function holdsIn(metrics: string): number {
  const counts = [...metrics.matchAll(/^rlock_hold_seconds_count\{.*\} (\d+)$/gm)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}
