import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { WATCH_PICTURES, watchResults } from '../../pictures/watch'
import { figuresOf } from '../../watch/page'

const PAGE = readFileSync(join(__dirname, '../../../docs/operations/monitoring.md'), 'utf8')

describe('The page about watching it in production', () => {
  it('The page has the figures of the run in bench/results/watch.json, and the command', () => {
    expect(PAGE).to.contain(`<!-- bench: watch -->\n\n${figuresOf(watchResults())}\n\n<!-- /bench -->`)
    expect(PAGE).to.contain(watchResults().command)
  })

  it('The page has a picture of each fault of that run, and says what it shows', () => {
    expect(WATCH_PICTURES).to.have.lengthOf(watchResults().plants.length)
    for (const { name, title } of WATCH_PICTURES) {
      expect(PAGE).to.contain(`srcset="../pictures/${name}-dark.svg"><img alt="${title}"`)
      expect(PAGE).to.contain(`src="../pictures/${name}-light.svg"`)
    }
  })
})
