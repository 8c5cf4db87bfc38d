// Writes the pictures of the pages, for light and dark themes, and the table of docs/operations/monitoring.md:
// npx tsx bench/pictures/start.ts
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fillRegions } from '../../test/kit/docs/regions'
import { THEMES } from '../report/chart-themes'
import { figuresOf } from '../watch/page'
import { demoPicture } from './demo'
import { PICTURES } from './pictures'
import { lsPicture } from './table'
import { WATCH_PICTURES, watchResults } from './watch'

const docs = join(__dirname, '../../docs')
mkdirSync(join(docs, 'pictures'), { recursive: true })
for (const picture of [...PICTURES, ...WATCH_PICTURES, demoPicture, lsPicture])
  for (const theme of THEMES)
    writeFileSync(
      join(docs, 'pictures', `${picture.name}-${theme.name}.svg`),
      picture.draw(theme).svg(picture.title),
    )
fillRegions(join(docs, 'operations/monitoring.md'), 'bench', (name) =>
  name === 'watch' ? figuresOf(watchResults()) : undefined,
)
