// Measures how fast the page draws 10,000 locks in Chromium: npx tsx packages/cli/test/page/frames.ts [locks] [seconds a part]
import { cpus, loadavg } from 'node:os'
import { Redis } from 'ioredis'
import { startStandalone, waitUntil } from '../../../../test/kit/servers/index'
import { killRuns } from '../cli'
import { Browser, CHROMIUM, type Tab } from './browser'
import { servePageOf } from './served'
import { countWork, plainRows, scroll, workOf } from './work'

const OWNER = '0b6d2a3e-1111-4222-8333-944444444444'
const LEASE = 30_000
/** How long each part is measured, in ms. */
const LASTS = Number(process.argv[3] ?? 10) * 1_000
/** What is scrolled in a frame: two rows, as a wheel does, and twelve, as one that is spun fast. */
const [SLOW, FAST] = [56, 336]

interface Frames {
  readonly part: string
  readonly frames: number
  readonly perSecond: number
  readonly median: number
  readonly p99: number
  /** Frames that came a whole frame late or later. */
  readonly late: number
  /** What the main thread of the page worked for a frame on average, in ms of the processor: scripts, style and layout, all. */
  readonly script: number
  readonly layout: number
  readonly all: number
}

async function measure(tab: Tab, part: string, eachFrame: string): Promise<Frames> {
  const before = await workOf(tab)
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
  const after = await workOf(tab)
  const gaps = times.slice(1).map((at, index) => at - times[index]!)
  const sorted = gaps.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
  const lasted = times.at(-1)! - times[0]!
  const each = (name: keyof typeof after) => (after[name] - before[name]) / gaps.length
  return {
    ...{ part, frames: gaps.length, perSecond: (gaps.length / lasted) * 1_000 },
    ...{ median: at(0.5), p99: at(0.99), late: gaps.filter((gap) => gap > 25).length },
    ...{ script: each('script'), layout: each('layout'), all: each('all') },
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

function print(count: number, product: string, results: readonly Frames[]): void {
  const load = loadavg()[0]!.toFixed(1)
  console.log(`${count.toLocaleString('en')} locks, ${product}, ${cpus().length} cores, load ${load}\n`)
  console.log(
    '| part | frames a second | median | p99 | late by a frame | script | style and layout | all work of a frame |',
  )
  console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |')
  for (const { part, perSecond, late, ...times } of results) {
    const [median, p99, ...work] = [times.median, times.p99, times.script, times.layout, times.all].map(
      (ms) => `${ms.toFixed(1)} ms`,
    )
    console.log(`| ${[part, perSecond.toFixed(1), median, p99, late, ...work].join(' | ')} |`)
  }
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
    const isComplete = async () =>
      (await tab.text('#counts')).startsWith(`${count.toLocaleString('en')} objects`)
    await waitUntil('all locks have come', isComplete, 120_000)
    await waitUntil('the other rows have come', () => tab.run('queue.length === 0'))
    const plain = await browser.open(plainRows(count))
    for (const each of [tab, plain]) await countWork(each)
    const results: Frames[] = []
    const part = async (of: Tab, what: string, eachFrame: string) => {
      await of.send('Page.bringToFront')
      results.push(await measure(of, what, eachFrame))
    }
    await part(tab, 'live, nothing moves', '')
    for (const pixels of [SLOW, FAST]) {
      await part(plain, `plain rows scroll ${pixels} px a frame`, scroll('box', pixels))
      for (const [box, what] of [
        ['box', 'table'],
        ['lanes', 'timeline'],
      ] as const)
        await part(tab, `the ${what} scrolls ${pixels} px a frame`, scroll(box, pixels))
    }
    print(count, (await browser.send('Browser.getVersion')).product, results)
  } finally {
    stop()
    await browser.close()
    await killRuns()
    redis.disconnect()
    await server.stop()
  }
}

void main(Number(process.argv[2] ?? 10_000))
