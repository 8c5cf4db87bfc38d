// Takes the pictures of docs/operations/troubleshooting.md from a run: npx tsx packages/cli/test/page/pictures.ts
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RedissonClient } from 'rlock'
import { closeAll, createRedisson } from '../../../../test/kit/clients'
import { startJavaPeer } from '../../../../test/kit/java'
import { startCluster, waitUntil } from '../../../../test/kit/servers/index'
import { killRuns, servePageOf } from '../cli'
import { Browser, CHROMIUM, type Tab } from './browser'

const FOLDER = join(__dirname, '../../../../docs/pictures')
const STUCK = 'order:42'
const SIZE = { width: 1_000, height: 590 }

async function take(tab: Tab, name: string): Promise<void> {
  await sleep(300)
  writeFileSync(join(FOLDER, `page-${name}.png`), await tab.picture())
}

/** Locks that are taken and released, so that the timeline shows more than the one that is stuck. */
function work(clients: readonly RedissonClient[]): () => Promise<unknown> {
  let isOver = false
  const turns = clients.flatMap((client, at) =>
    ['stock:7', 'stock:9'].map(async (name, which) => {
      while (!isOver) {
        await client.getLock(name).withLock(() => sleep(1_500 + 900 * at + 700 * which))
        await sleep(400 + 500 * which)
      }
    }),
  )
  return () => {
    isOver = true
    return Promise.all(turns)
  }
}

async function main(): Promise<void> {
  if (!CHROMIUM) throw new Error('there is no /usr/bin/chromium (apt-get install chromium)')
  mkdirSync(FOLDER, { recursive: true })
  const cluster = await startCluster()
  const urls = cluster.nodes.map(({ host, port }) => `redis://${host}:${port}`)
  const addresses = cluster.nodes.map(({ host, port }) => `${host}:${port}`)
  const java = await startJavaPeer({ redis: { mode: 'cluster', addresses } })
  const otherJava = await startJavaPeer({ redis: { mode: 'cluster', addresses } })
  const [orders, billing] = await Promise.all(
    ['orders', 'billing'].map((label) => createRedisson({ redis: { nodes: urls }, label })),
  )
  const browser = await Browser.start()
  const stop = work([orders!, billing!])
  try {
    // A lease of an hour, and then the process is killed.
    await java.thread('a').lock(STUCK, { leaseTime: 3_600_000 })
    const { url } = await servePageOf(urls[0]!, '--cluster', '--allow-unlock')
    const tab = await browser.open(url.href, SIZE)
    await tab.sees(STUCK, '#grid')
    await sleep(4_000)
    const first = orders!.getLock(STUCK).acquire()
    await sleep(3_000)
    const second = billing!.getLock(STUCK).acquire()
    const third = otherJava.thread('b').lock(STUCK)
    await java.kill()
    await tab.sees('1 process listens', '#grid')
    await sleep(15_000)
    await take(tab, 'stuck')
    await tab.click(`Unlock ${STUCK}`)
    await take(tab, 'ask')
    await tab.click('Free the hold')
    await tab.sees(`${STUCK}: freed`, '#done')
    // Whichever of the three comes first: each has it for some seconds, and hands it on.
    const turns = [first, second].map(async (turn) => {
      const hold = await turn
      await sleep(4_000)
      await hold.unlock()
    })
    const ofJava = third.then(async () => {
      await sleep(4_000)
      await otherJava.thread('b').unlock(STUCK)
    })
    await waitUntil(
      'all three had it',
      async () => {
        await Promise.all([...turns, ofJava])
        return true
      },
      60_000,
    )
    await sleep(1_500)
    await take(tab, 'freed')
    if (tab.complaints.length > 0) throw new Error(tab.complaints.join('\n'))
    console.log(`written: ${FOLDER}`)
  } finally {
    await browser.close()
    await killRuns()
    await stop()
    await closeAll()
    await Promise.all([java.kill(), otherJava.kill()])
    await cluster.stop()
  }
}

void main()
