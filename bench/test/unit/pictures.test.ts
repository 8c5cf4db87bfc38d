import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { demoPicture } from '../../pictures/demo'
import { PICTURES } from '../../pictures/pictures'
import { lsPicture } from '../../pictures/table'
import { WATCH_PICTURES } from '../../pictures/watch'
import { THEMES } from '../../report/chart-themes'

const FOLDER = join(__dirname, '../../../docs/pictures')

describe('The pictures of the pages', () => {
  it('The drawings in docs/pictures are those that bench/pictures/start.ts writes, and no others', () => {
    const drawn = new Map(
      [...PICTURES, ...WATCH_PICTURES, demoPicture, lsPicture].flatMap((picture) =>
        THEMES.map((theme) => [`${picture.name}-${theme.name}.svg`, picture.draw(theme).svg(picture.title)]),
      ),
    )
    // The others are screenshots, which packages/cli/test/page/pictures.ts takes.
    const svgs = readdirSync(FOLDER).filter((file) => file.endsWith('.svg'))
    expect(svgs.sort()).to.deep.equal([...drawn.keys()].sort())
    for (const [file, svg] of drawn) expect(readFileSync(join(FOLDER, file), 'utf8'), file).to.equal(svg)
  })
})
