import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { withRegions } from '../../../test/kit/docs/regions'
import { contentOf as capacity } from '../../capacity/report/page'
import { readResults as readCapacity } from '../../capacity/results'
import { CONTENTS as CYCLE } from '../../cycle/page'
import { contentOf as objects } from '../../objects/report/page'
import { readResults as readObjects } from '../../objects/results'
import { channelsTable } from '../../pairs/channels-page'
import { CONTENTS } from '../../report/document'
import { readRun } from '../../result-file'

const RESULTS = join(__dirname, '../../results')
const PAGE = readFileSync(join(__dirname, '../../../docs/evidence/performance.md'), 'utf8')

describe('The page about performance', () => {
  it('The page about performance shows what the kept results say, in regions that each have a program', () => {
    const parsed = (file: string) => JSON.parse(readFileSync(join(RESULTS, file), 'utf8'))
    const run = readRun(join(RESULTS, 'latest.json'))
    const unknown: string[] = []
    const written = withRegions(PAGE, 'bench', (name) => {
      const content =
        CONTENTS[name]?.(run) ??
        objects(readObjects(join(RESULTS, 'objects.json')), name) ??
        capacity(readCapacity(join(RESULTS, 'capacity.json')), name) ??
        CYCLE[name]?.(parsed('cycle.json')) ??
        (name === 'channels' ? channelsTable(parsed('channels.json')) : undefined)
      if (content === undefined) unknown.push(name)
      return content
    })
    expect(unknown).to.deep.equal([])
    expect(written).to.equal(PAGE)
  })
})
