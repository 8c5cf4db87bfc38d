// Writes src/scripts/lua.generated.ts from the files under lua/, and the same in packages/recipes, so that a bundled app
// carries its scripts and never reads a file at run time. The comment header stays in lua/: it is for people.
// What scripts share is in lua/includes; lua-includes.mjs says how.
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readScripts } from './lua-includes.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const sha1 = (source) => createHash('sha1').update(source).digest('hex')

function embed(folder, file) {
  const sources = Object.entries(readScripts(join(root, folder), join(root, 'lua/includes')))
  const record = (constant, of) => {
    const entries = sources.map(
      ([name, source]) => `  ${JSON.stringify(name)}: ${JSON.stringify(of(source))},`,
    )
    return `export const ${constant} = {\n${entries.join('\n')}\n} as const\n`
  }
  writeFileSync(
    join(root, file),
    `// Generated from ${folder}/ by scripts/embed-lua.mjs. Do not edit.\n${record('luaSources', (source) => source)}${record('luaHashes', sha1)}`,
  )
}

embed('lua', 'src/scripts/lua.generated.ts')
embed('packages/recipes/lua', 'packages/recipes/src/lua.generated.ts')
