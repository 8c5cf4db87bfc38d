import { once } from 'node:events'
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Feed } from '../../src/page/feed'
import { servePage } from '../../src/page/server'
import type { PageRow } from '../../src/page/view'

const NOW = 1_000_000
const row = (id: string, ends: number): PageRow => ({
  ...{ id, name: id, kind: 'lock', value: null, listeners: null, queue: null, more: 0, waits: [] },
  holders: [{ id: 'h', owner: 'o', count: 1, ends, since: null, label: null, waitsFor: [] }],
})

describe('The feed of rlock page', () => {
  it('The feed of rlock page keeps one time for an unchanged row, and sends a renewal', () => {
    const feed = new Feed()
    expect(feed.take([row('a', NOW)], 1)[0]!.rows).to.have.length(1)
    expect(feed.take([row('a', NOW + 400)], 2)[0]!.rows).to.be.empty
    // Measured against what was sent: many small steps do not add up unseen.
    expect(feed.take([row('a', NOW + 800)], 3)[0]!.rows).to.be.empty
    const [renewed] = feed.take([row('a', NOW + 1_000)], 4)
    expect(renewed!.rows[0]!.holders[0]!.ends).to.equal(NOW + 1_000)
  })

  it('The feed of rlock page sends many rows in slices, and marks the last one', () => {
    const feed = new Feed()
    const rows = Array.from({ length: 450 }, (_, at) => row(String(at), NOW))
    const events = feed.take(rows, 1)
    expect(events.map((event) => [event.rows.length, event.done])).to.deep.equal([
      [200, undefined],
      [200, undefined],
      [50, true],
    ])
    const all = feed.all(2)
    expect(all.map(({ isFirst }) => isFirst)).to.deep.equal([true, undefined, undefined])
    const [gone] = feed.take(rows.slice(1), 3)
    expect([gone!.gone, gone!.rows]).to.deep.equal([['0'], []])
  })

  it('rlock page rests after a look that took long: looks do not queue (V61)', async () => {
    const looks: { readonly from: number; readonly to: number }[] = []
    const read = async () => {
      const from = performance.now()
      await sleep(600)
      looks.push({ from, to: performance.now() })
      return { rows: [], holds: new Map(), deadlocks: [], unseen: [] }
    }
    const page = await servePage(0, { read, unlock: undefined })
    const { origin, hash } = new URL(page.address)
    const asked = get(`${origin}/events`, { headers: { authorization: `Bearer ${hash.slice(1)}` } })
    const [answer] = await once(asked, 'response')
    answer.resume()
    while (looks.length < 2) await sleep(50)
    expect(looks[1]!.from - looks[0]!.to).to.be.at.least(4 * 550)
    asked.destroy()
    await page.close()
  })
})
