import { once } from 'node:events'
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Feed } from '../../src/page/feed'
import { servePage } from '../../src/page/server'
import { inRows, type PageRow } from '../../src/page/view'

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

const span = (label: string, from: number, to?: number) => ({ label, from, ...(to !== undefined && { to }) })

describe('The rows of a lane of rlock page', () => {
  const laid = (...spans: ReturnType<typeof span>[]) =>
    inRows(spans, 3, 100).map(({ label, row, rows }) => `${label} ${row}/${rows}`)

  it('Holds that meet each other lie side by side, and one that is alone has the whole lane', () => {
    expect(laid(span('a', 0, 10), span('b', 10, 30), span('c', 20, 40), span('d', 50))).to.deep.equal([
      'a 0/1',
      'b 0/2',
      'c 1/2',
      'd 0/1',
    ])
  })

  it('Holds that find no row are one span that says how many it stands for', () => {
    const all = [
      span('a', 0),
      span('b', 1),
      span('c', 2, 50),
      span('d', 3, 60),
      span('e', 59, 70),
      span('f', 80, 90),
    ]
    expect(laid(...all)).to.deep.equal(['a 0/3', 'b 1/3', '3 more 2/3', 'f 2/3'])
    expect(inRows(all, 3, 100)[2]).to.include({ from: 2, to: 70 })
  })

  it('No two spans cover each other, of 10,000 that are open and of many that come and go', () => {
    const many = Array.from({ length: 10_000 }, (_, at) =>
      span(`r${at}`, at % 97, at % 3 === 0 ? undefined : (at % 97) + (at % 7)),
    )
    const began = performance.now()
    const all = inRows(many, 6, 100)
    expect(performance.now() - began).to.be.below(5_000)
    for (const [at, one] of all.entries())
      for (const other of all.slice(at + 1))
        if (one.row === other.row)
          expect((one.to ?? 100) <= other.from || (other.to ?? 100) <= one.from).to.equal(true)
  })
})
