// Builds dist/: CommonJS by the compiler, and beside it an ES module that re-exports the very same
// objects, so that `import` and `require` in one process share locks, holds and thread ids.
//
// Bundlers get an ES module that needs no CommonJS of ours (the `module` condition in package.json, which Node does not
// know): in a bundle that is an ES module itself, what is required of Node fails when it is run.
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
process.chdir(root)

await import('./embed-lua.mjs')
rmSync('dist', { recursive: true, force: true })

const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
const compiled = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { stdio: 'inherit' })
if (compiled.status !== 0) process.exit(compiled.status ?? 1)

// What can be imported: `rlock` is the entry index, any other the entry of its name, such as `rlock/redisson-config`.
const ENTRIES = ['index', 'redisson-config', 'nestjs']
const require = createRequire(import.meta.url)

// An entry that needs the classes of `rlock` itself takes them from there: a bundle with both has them once.
const indexOnce = {
  name: 'index-once',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\.?\/index$/ }, () => ({ path: './module.mjs', external: true })),
}

// The in-memory server has no bundle: tests are not bundled.
const exported = (entry) => {
  const file = basename(entry)
  // By name: a star would let through what CommonJS has besides, such as __esModule.
  const names = Object.keys(require(join(root, `dist/${entry}.js`)))
  writeFileSync(`dist/${entry}.mjs`, `export { ${names.join(', ')} } from './${file}.js'\n`)
  writeFileSync(`dist/${entry}.d.mts`, `export * from './${file}.js'\n`)
}

exported('testing/index')
for (const entry of ENTRIES) {
  exported(entry)

  await build({
    entryPoints: [`src/${entry}.ts`],
    outfile: `dist/${entry === 'index' ? 'module' : `${entry}.module`}.mjs`,
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    plugins: [indexOnce],
    logLevel: 'warning',
  })
}
