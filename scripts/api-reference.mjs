// Writes the API reference of all entry points, from the comments of the sources, into .api/. A link that leads nowhere,
// and what users meet without a word about it, is an error.
//
// typedoc is a package of its own in scripts/api-reference: it needs the API of TypeScript 6. The first run installs it.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = join(dirname(fileURLToPath(import.meta.url)), 'api-reference')

await import('./embed-lua.mjs')
if (!existsSync(join(folder, 'node_modules')))
  run('npm', ['ci', '--no-audit', '--no-fund'], process.platform === 'win32')
run(process.execPath, [join(folder, 'node_modules/typedoc/bin/typedoc')])

/** The shell is for Windows, where npm is a script. */
function run(program, args, shell = false) {
  const { status, error } = spawnSync(program, args, { cwd: folder, stdio: 'inherit', shell })
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
}
