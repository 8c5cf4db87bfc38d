// Writes the pictures of the pages, for light and dark themes: npx tsx bench/pictures/start.ts
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { THEMES } from '../report/chart-themes'
import { PICTURES } from './pictures'
import { watch } from './watch'

const folder = join(__dirname, '../../docs/pictures')
mkdirSync(folder, { recursive: true })
for (const picture of [...PICTURES, watch])
  for (const theme of THEMES)
    writeFileSync(join(folder, `${picture.name}-${theme.name}.svg`), picture.draw(theme).svg(picture.title))
