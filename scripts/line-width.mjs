// Refuses lines of the sources with more than 110 columns: Biome wraps code, but neither comments nor strings. A row of a
// table and a regular expression stay on one line: node scripts/line-width.mjs
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const LONGEST = 110
const STAYS = /^\s*(\/\/|\*) \||^\s*\/[^/*]/
const root = join(dirname(fileURLToPath(import.meta.url)), '..')

const faults = ['src'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.generated.ts'))
    .flatMap((file) =>
      readFileSync(join(root, folder, file), 'utf8')
        .split('\n')
        .flatMap((line, at) =>
          line.length > LONGEST && !STAYS.test(line) ? [`${folder}/${file}:${at + 1} (${line.length})`] : [],
        ),
    ),
)
if (faults.length > 0) {
  console.error(`Lines have at most ${LONGEST} columns, comments and strings too:\n${faults.join('\n')}`)
  process.exitCode = 1
}
