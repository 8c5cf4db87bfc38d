import { expect } from 'chai'
import { THEMES } from '../../../../packages/cli/src/page/timeline'
import { judge } from '../../judge/judge'
import { tell } from '../../story/text'
import { drawTimeline } from '../../story/timeline'
import { Written } from '../judge/written-history'

function overlapping() {
  const written = new Written({ kind: 'lock', name: 'order <1>' })
  written.acquires('a/1')
  written.fault({ kind: 'slow', until: 20, excuses: ['delay'] })
  written.key({ owners: ['A'] })
  const waits = written.call('c/1', 'acquire', { wait: 50 })
  written.acquires('b/1', { as: 'tryLock' })
  written.returned(waits, { ok: false })
  const { history } = written
  return { history, violation: judge(history).find(({ rule }) => rule === 'exclusion')! }
}

describe('A violation is told', () => {
  it('As a text with the calls, the faults, what the server has and which callers are inside', () => {
    const { history, violation } = overlapping()
    const told = tell(history, violation, ['server 1 4.5 c1 commands#1 evalsha abc = 1'])
    for (const part of [
      /b\/1 came into order <1>/,
      /FAULT slow until 20\.0 ms/,
      /b\/1 calls tryLock\(\) of the lock order <1>/,
      /server: order <1> is A/,
      / {2}4\.5 ms +server 1: c1 commands#1 evalsha abc = 1/,
      /→ b\/1 comes into/,
      /Inside at .* ms:\n {2}a\/1 in order <1> since 2\.0 ms\n {2}b\/1/,
    ])
      expect(told).to.match(part)
  })

  it('As a drawing in both themes: a lane for each owner, hatched waits, faults and the moment', () => {
    const { history, violation } = overlapping()
    for (const theme of THEMES) {
      const svg = drawTimeline(history, violation, theme)
      expect(svg).to.include(theme.background).and.to.include(theme.trouble)
      for (const owner of ['a/1', 'b/1', 'c/1']) expect(svg).to.include(`>${owner}</text>`)
      expect(svg).to.include('url(#waits-').and.to.include('order &lt;1&gt;').and.not.to.include('order <1>')
      expect(svg.match(/<rect/g)!.length).to.equal(svg.match(/<\/rect>|<rect[^>]*\/>/g)!.length)
    }
  })
})
