// Builds dist/: for each entry one CommonJS file with its source map, one file of declarations, and an ES module that
// re-exports the very same objects, so that `import` and `require` in one process share locks, holds and thread ids.
//
// Bundlers get an ES module that needs no CommonJS of ours (the `module` condition in package.json, which Node does not
// know): in a bundle that is an ES module itself, what is required of Node fails when it is run.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build } from 'esbuild'
import { extract, root, withDeclarations } from './declarations.mjs'

process.chdir(root)
await import('./embed-lua.mjs')
rmSync('dist', { recursive: true, force: true })

/** What can be imported: `rlock` is the entry index, any other the entry of its name, such as `rlock/testing`. */
const ENTRIES = {
  index: 'index',
  'redisson-config': 'redisson-config',
  nestjs: 'nestjs',
  testing: 'testing/index',
}
/** The ES modules for bundlers. The in-memory server has none: tests are not bundled. */
const FOR_BUNDLERS = {
  index: 'module',
  'redisson-config': 'redisson-config.module',
  nestjs: 'nestjs.module',
}

/** What the declarations of `rlock` are called while those of the other entries are put together. */
const INDEX = 'rlock-index'

const require = createRequire(import.meta.url)

/**
 * An entry takes the classes of `rlock` from the file of `rlock`: there is one copy of them, so that `instanceof` holds.
 * What entries share besides is pure, or registered for the whole process (src/ownership/process-state.ts).
 */
const indexFrom = (file) => ({
  name: 'index-once',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\.?\/index$/ }, ({ importer }) =>
      /[\\/]src[\\/](nestjs|testing)[\\/]/.test(importer) ? { path: file, external: true } : undefined,
    ),
})

async function bundle(source, outfile, options, indexFile) {
  const { outputFiles } = await build({
    entryPoints: [`src/${source}.ts`],
    outfile: `dist/${outfile}`,
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    plugins: [indexFrom(indexFile)],
    logLevel: 'warning',
    write: false,
    ...options,
  })
  mkdirSync('dist', { recursive: true })
  for (const { path, text } of outputFiles)
    writeFileSync(path, path.endsWith('.map') ? text : withClassNames(text))
}

/**
 * esbuild calls a class that names itself `_Redisson`, and so would stack traces and Nest. Each gets its own name again,
 * and a blank, so that no column of the source map moves.
 */
function withClassNames(code) {
  const renamed = [...code.matchAll(/^var (\w+) = class _\1\b/gm)].map(([, name]) => name)
  return renamed.reduce((text, name) => text.replace(new RegExp(`\\b_${name}\\b`, 'g'), ` ${name}`), code)
}

for (const [entry, source] of Object.entries(ENTRIES)) {
  // Not minified: a stack trace without the map has the names of the sources, and lines that can be read.
  await bundle(source, `${entry}.js`, { format: 'cjs', sourcemap: 'linked' }, './index.js')
  // By name: a star would let through what CommonJS has besides, such as __esModule.
  const names = Object.keys(require(join(root, `dist/${entry}.js`)))
  // Required, not imported: for an import Node would read all of the file to find out what it exports, which takes several
  // times as long as to load it.
  writeFileSync(
    `dist/${entry}.mjs`,
    "import { createRequire } from 'node:module'\n" +
      `export const { ${names.join(', ')} } = createRequire(import.meta.url)('./${entry}.js')\n`,
  )
  writeFileSync(`dist/${entry}.d.mts`, `export * from './${entry}.js'\n`)
}
for (const [entry, file] of Object.entries(FOR_BUNDLERS))
  await bundle(ENTRIES[entry], `${file}.mjs`, { format: 'esm' }, './module.mjs')

withDeclarations((folder) => {
  for (const [entry, source] of Object.entries(ENTRIES)) {
    const file = `dist/${entry}.d.ts`
    const dtsRollup = { enabled: true, untrimmedFilePath: join(root, file) }
    extract(join(folder, `${source}.d.ts`), { dtsRollup })
    if (entry === 'index') makeIndexAPackage(folder)
    else writeFileSync(file, readFileSync(file, 'utf8').replaceAll(`'${INDEX}'`, "'./index.js'"))
  }
})

/** From here on the declarations of `rlock` are a package, which other entries import and do not repeat. */
function makeIndexAPackage(folder) {
  const directory = join(folder, 'node_modules', INDEX)
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ name: INDEX, types: 'index.d.ts' }))
  copyFileSync('dist/index.d.ts', join(directory, 'index.d.ts'))
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/^(nestjs|testing|redisson-config)\b.*\.d\.ts$/.test(file)) continue
    const text = readFileSync(join(folder, file), 'utf8')
    writeFileSync(join(folder, file), text.replace(/'\.\.?\/index'/g, `'${INDEX}'`))
  }
}
