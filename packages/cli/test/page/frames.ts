// Measures how fast the page draws 10,000 locks in Chromium: npx tsx packages/cli/test/page/frames.ts [locks]
import { cpus } from 'node:os'
import { Redis } from 'ioredis'
import { startStandalone, waitUntil } from '../../../../test/kit/servers/index'
import { killRuns } from '../cli'
import { Browser, CHROMIUM, type Tab } from './browser'
import { servePageOf } from './served'

const OWNER = '0b6d2a3e-1111-4222-8333-944444444444'
const LEASE = 30_000
/** How long each part is measured, in ms. */
const LASTS = 10_000
/** What is scrolled in a frame: two rows, as a wheel does, and twelve, as one that is spun fast. */
const [SLOW, FAST] = [56, 336]

interface Frames {
  readonly part: string
  readonly frames: number
  readonly perSecond: number
  readonly median: number
  readonly p99: number
  readonly worst: number
  /** Frames that came a whole frame late or later. */
  readonly late: number
  /** What the page worked for a frame on average, in ms. */
  readonly work: number
}

async function measure(tab: Tab, part: string, eachFrame: string): Promise<Frames> {
  const taskTime = async () => {
    const { metrics } = await tab.send('Performance.getMetrics')
    return metrics.find(({ name }: { name: string }) => name === 'TaskDuration').value * 1_000
  }
  const before = await taskTime()
  const times: number[] = await tab.run(`new Promise((resolve) => {
    const times = []
    const frame = (at) => {
      times.push(at)
      ${eachFrame}
      if (at - times[0] < ${LASTS}) requestAnimationFrame(frame)
      else resolve(times)
    }
    requestAnimationFrame(frame)
  })`)
  const work = (await taskTime()) - before
  const gaps = times.slice(1).map((at, index) => at - times[index]!)
  const sorted = gaps.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
  const lasted = times.at(-1)! - times[0]!
  return {
    ...{ part, frames: gaps.length, perSecond: (gaps.length / lasted) * 1_000 },
    ...{ median: at(0.5), p99: at(0.99), worst: sorted.at(-1)! },
    ...{ late: gaps.filter((gap) => gap > 25).length, work: work / gaps.length },
  }
}

/** Holds are renewed as watchdogs do, a third of a lease apart, and one in two hundred changes its owner each second. */
function keepAlive(redis: Redis, names: readonly string[]): () => void {
  let turn = 0
  const timer = setInterval(() => {
    const pipeline = redis.pipeline()
    for (let at = turn % 100; at < names.length; at += 100) pipeline.pexpire(names[at]!, LEASE)
    for (let at = turn % 2_000; at < names.length; at += 2_000) {
      pipeline.del(names[at]!)
      pipeline.hset(names[at]!, `${OWNER}:${turn}`, 1)
      pipeline.pexpire(names[at]!, LEASE)
    }
    turn++
    void pipeline.exec()
  }, 100)
  return () => clearInterval(timer)
}

async function main(count: number): Promise<void> {
  if (!CHROMIUM) throw new Error('there is no /usr/bin/chromium (apt-get install chromium)')
  const server = await startStandalone()
  const redis = new Redis(server.url)
  const names = Array.from({ length: count }, (_, at) => `lock:${String(at).padStart(6, '0')}`)
  const pipeline = redis.pipeline()
  for (const [at, name] of names.entries()) pipeline.hset(name, `${OWNER}:${at}`, 1).pexpire(name, LEASE)
  await pipeline.exec()
  const stop = keepAlive(redis, names)
  const browser = await Browser.start()
  try {
    const { url } = await servePageOf(server.url)
    const tab = await browser.open(url.href)
    await tab.send('Performance.enable')
    const isComplete = async () =>
      (await tab.text('#counts')).startsWith(`${count.toLocaleString('en')} objects`)
    await waitUntil('all locks have come', isComplete, 120_000)
    await waitUntil('the other rows have come', () => tab.run('queue.length === 0'))
    const scroll = (box: string, pixels: number) =>
      `const box = byId('${box}'); box.scrollTop += ${pixels}; if (box.scrollTop + box.clientHeight >= box.scrollHeight) box.scrollTop = 0`
    const results = [await measure(tab, 'live, nothing moves', '')]
    for (const pixels of [SLOW, FAST])
      for (const [box, what] of [
        ['box', 'table'],
        ['lanes', 'timeline'],
      ] as const)
        results.push(await measure(tab, `the ${what} scrolls ${pixels} px a frame`, scroll(box, pixels)))
    const { product } = await browser.send('Browser.getVersion')
    console.log(`${count.toLocaleString('en')} locks, ${product}, ${cpus().length} cores\n`)
    console.log('| part | frames | a second | median | p99 | worst | late by a frame | work of a frame |')
    console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |')
    for (const { part, frames, perSecond, median, p99, worst, late, work } of results)
      console.log(
        `| ${part} | ${frames} | ${perSecond.toFixed(1)} | ${[median, p99, worst].map((ms) => `${ms.toFixed(1)} ms`).join(' | ')} | ` +
          `${late} | ${work.toFixed(1)} ms |`,
      )
  } finally {
    stop()
    await browser.close()
    await killRuns()
    redis.disconnect()
    await server.stop()
  }
}

void main(Number(process.argv[2] ?? 10_000))
