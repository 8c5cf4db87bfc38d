// Builds dist/: CommonJS by the compiler, and beside it an ES module that re-exports the very same
// objects, so that `import` and `require` in one process share locks, holds and thread ids.
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
process.chdir(root)

await import('./embed-lua.mjs')
rmSync('dist', { recursive: true, force: true })

const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
const compiled = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { stdio: 'inherit' })
if (compiled.status !== 0) process.exit(compiled.status ?? 1)

// By name: a star would let through what CommonJS has besides, such as __esModule.
const names = Object.keys(createRequire(import.meta.url)(join(root, 'dist/index.js')))
writeFileSync('dist/index.mjs', `export { ${names.join(', ')} } from './index.js'\n`)
writeFileSync('dist/index.d.mts', "export * from './index.js'\n")
