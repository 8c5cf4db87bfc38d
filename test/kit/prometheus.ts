import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onFreePorts } from './servers/free-ports'
import { endWithThisProcess, removeNow, removeWithThisProcess } from './servers/left-behind'
import { waitUntil } from './servers/wait-until'

/** A series of an answer, with its samples: seconds since 1970, and a value. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>
  readonly values: readonly (readonly [number, number])[]
}

/** Why there is no Prometheus, or undefined where `prometheus` and `promtool` are on the PATH. */
export function noPrometheus(): string | undefined {
  const missing = ['prometheus', 'promtool'].filter((each) => spawnSync(each, ['--version']).status !== 0)
  return missing.length > 0
    ? `there is no ${missing.join(', no ')} on the PATH (on Debian: apt-get install prometheus)`
    : undefined
}

export interface Scraping {
  /** Default 200. */
  readonly everyMs?: number
  /** Lines of YAML that belong to the scrape_config, without indentation. */
  readonly more?: string
}

/** A real Prometheus that scrapes `targets` (`host:port`). */
export class Prometheus {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly url: string,
  ) {}

  static start(targets: readonly string[], { everyMs = 200, more = '' }: Scraping = {}): Promise<Prometheus> {
    return onFreePorts(1, async ([port]) => {
      const folder = mkdtempSync(join(tmpdir(), 'rlock-prometheus-'))
      removeWithThisProcess(folder)
      const file = join(folder, 'prometheus.yml')
      // JSON is YAML, too.
      const config = [
        `global: ${JSON.stringify({ scrape_interval: `${everyMs}ms`, scrape_timeout: `${everyMs}ms` })}`,
        'scrape_configs:',
        `  - static_configs: ${JSON.stringify([{ targets }])}`,
        ...`job_name: app\n${more}`.split('\n').map((line) => `    ${line}`),
      ]
      writeFileSync(file, config.join('\n'))
      const args = [
        `--config.file=${file}`,
        `--storage.tsdb.path=${folder}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ]
      const child = spawn('prometheus', args, { stdio: ['ignore', 'ignore', 'pipe'] })
      endWithThisProcess(child)
      let log = ''
      child.stderr!.on('data', (chunk: Buffer) => {
        log += chunk
      })
      const prometheus = new Prometheus(child, folder, `http://127.0.0.1:${port}`)
      await waitUntil('Prometheus is ready', async () => {
        // Of its own error `address already in use` other ports are tried.
        if (child.exitCode !== null) return true
        return (await fetch(`${prometheus.url}/-/ready`)).ok
      })
      if (child.exitCode !== null) throw new Error(`Prometheus ended: ${log}`)
      return prometheus
    })
  }

  /** What a query gives now: each series with one sample. */
  async query(expr: string): Promise<Series[]> {
    const result = await this.ask<{ metric: Series['metric']; value: [number, string] }[]>('query', {
      query: expr,
    })
    return result.map(({ metric, value: [at, value] }) => ({ metric, values: [[at, Number(value)]] }))
  }

  /** What a query gives at each step. Times are in seconds since 1970. */
  async queryRange(expr: string, range: { start: number; end: number; step: number }): Promise<Series[]> {
    const asked = { query: expr, ...range }
    const result = await this.ask<{ metric: Series['metric']; values: [number, string][] }[]>(
      'query_range',
      asked,
    )
    return result.map(({ metric, values }) => ({
      metric,
      values: values.map(([at, value]) => [at, Number(value)] as const),
    }))
  }

  async stop(): Promise<void> {
    const exited = this.child.exitCode === null ? once(this.child, 'exit') : undefined
    this.child.kill('SIGTERM')
    await exited
    removeNow(this.folder)
  }

  private async ask<Result>(path: string, asked: Record<string, string | number>): Promise<Result> {
    const words = Object.entries(asked).map(([name, value]) => [name, String(value)] as [string, string])
    const body = new URLSearchParams(words)
    const response = await fetch(`${this.url}/api/v1/${path}`, { method: 'POST', body })
    const answer = (await response.json()) as { status: string; error?: string; data: { result: Result } }
    if (answer.status !== 'success') throw new Error(`Prometheus refuses ${asked.query}: ${answer.error}`)
    return answer.data.result
  }
}
