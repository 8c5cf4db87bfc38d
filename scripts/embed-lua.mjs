// Writes src/scripts/lua.generated.ts from the files under lua/, so that a bundled app carries its
// scripts and never reads a file at run time. The comment header stays in lua/: it is for people.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const luaDirectory = join(root, 'lua')

const files = readdirSync(luaDirectory, { recursive: true })
  .map(String)
  .filter((file) => file.endsWith('.lua'))
  .sort()

const entries = files.map((file) => {
  const source = readFileSync(join(luaDirectory, file), 'utf8')
    .split('\n')
    .filter((line) => !/^\s*(--|$)/.test(line))
    .join('\n')
  const name = relative('.', file)
    .replaceAll('\\', '/')
    .replace(/\.lua$/, '')
  return `  ${JSON.stringify(name)}: ${JSON.stringify(source)},`
})

writeFileSync(
  join(root, 'src/scripts/lua.generated.ts'),
  `// Generated from lua/ by scripts/embed-lua.mjs. Do not edit.\nexport const luaSources = {\n${entries.join('\n')}\n} as const\n`,
)
