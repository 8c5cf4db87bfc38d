// Builds dist/. The code of `rlock` is in one file, rlock.js, with its source map. Two thin files beside it load it: index.js
// for `require` and `import`, so that both in one process share locks, holds and thread ids, and module.mjs for bundlers.
// The other entries are small: one file of code for each.
//
// module.mjs (the `module` condition in package.json, which Node does not know) imports what rlock.js needs, and hands it
// over: in a bundle that is an ES module itself, what is required of Node fails when it is run.
//
// docs/decisions/0009-one-code-file.md has what each part costs.
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build, transform } from 'esbuild'
import { extract, root, withDeclarations } from './declarations.mjs'
import { linesOnly } from './source-map-lines.mjs'

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
/** The ES modules for bundlers of the small entries. The in-memory server has none: tests are not bundled. */
const FOR_BUNDLERS = {
  'redisson-config': 'redisson-config.module',
  nestjs: 'nestjs.module',
}
/** Loaded when they are first used: the first client and the first lock pay for them, and not the import. */
const LOADED_LATER = ['async-mutex', 'eventemitter3', 'node:perf_hooks']

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

/** The code and its source map; nothing is written. */
async function bundled(source, options, indexFile) {
  const { outputFiles } = await build({
    entryPoints: [`src/${source}.ts`],
    outdir: 'dist',
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    plugins: [indexFrom(indexFile)],
    logLevel: 'warning',
    write: false,
    ...options,
  })
  return outputFiles.at(-1).text
}

/**
 * The code without its comments, in lines that can be read. esbuild leaves comments out only together with the blanks, so
 * it prints the code twice. Names are kept: a stack trace without the map has those of the sources.
 */
async function readable(source, options, indexFile) {
  const dense = await bundled(source, { minifyWhitespace: true, sourcemap: 'inline', ...options }, indexFile)
  const { code, map } = await transform(dense, {
    platform: 'node',
    target: 'node20',
    sourcefile: 'dense.js',
    sourcemap: 'external',
  })
  return { code: withClassNames(code), map: JSON.parse(map) }
}

/**
 * esbuild calls a class that names itself `_Redisson`, and so would stack traces and Nest. Each gets its own name again,
 * and a blank, so that no column of the source map moves.
 */
function withClassNames(code) {
  const renamed = [...code.matchAll(/^var (\w+) = class _\1\b/gm)].map(([, name]) => name)
  return renamed.reduce((text, name) => text.replace(new RegExp(`\\b_${name}\\b`, 'g'), ` ${name}`), code)
}

/** rlock.js: a function that gets what the code imports, and returns what it exports. V8 compiles a function in brackets at once. */
async function writeCode() {
  const { code, map } = await readable('index', { format: 'cjs' })
  const inside = code.replace(/^"use strict";\n/, '\n').replace(/\brequire\(/g, 'imports(')
  const [start, end] = [
    'module.exports = (function (imports) { const module = {};',
    'return module.exports })',
  ]
  writeFileSync('dist/rlock.js', `"use strict"; ${start}${inside}${end}\n//# sourceMappingURL=rlock.js.map\n`)
  const sourcesContent = map.sources.map((source, at) =>
    source.endsWith('lua.generated.ts') ? null : map.sourcesContent[at],
  )
  writeFileSync(
    'dist/rlock.js.map',
    JSON.stringify({ ...map, sourcesContent, names: [], mappings: linesOnly(map.mappings) }),
  )
}

/** What the code imports by name, and as a default: `{ 'node:timers': ['default'], ioredis: ['Redis', 'Cluster'] }`. */
async function importsOf(source) {
  const code = await bundled(source, { format: 'esm' })
  const imports = {}
  for (const [, names, from] of code.matchAll(/^import (.+) from "([^"]+)";$/gm)) {
    const listed = /^\{ (.+) \}$/.exec(names)?.[1].split(', ') ?? ['default']
    imports[from] = [...new Set([...(imports[from] ?? []), ...listed.map((name) => name.split(' as ')[0])])]
  }
  return imports
}

const exportsOf = (file) => Object.keys(require(join(root, `dist/${file}`))).join(', ')

/** For an import. By name: a star would let through what CommonJS has besides, such as __esModule. */
function writeImport(entry) {
  // Required, not imported: for an import Node would read all of the file to find out what it exports, which takes several
  // times as long as to load it.
  writeFileSync(
    `dist/${entry}.mjs`,
    "import { createRequire } from 'node:module'\n" +
      `export const { ${exportsOf(`${entry}.js`)} } = createRequire(import.meta.url)('./${entry}.js')\n`,
  )
  writeFileSync(`dist/${entry}.d.mts`, `export * from './${entry}.js'\n`)
}

/** The files through which rlock.js is required, imported and bundled. */
async function writeIndex() {
  const imports = Object.entries(await importsOf('index'))
  const required = imports.map(([from, names]) => {
    if (!LOADED_LATER.includes(from)) return `  '${from}': require('${from}'),\n`
    const getters = names.map(
      (name) => `get ${name}() { return (later['${from}'] ??= require('${from}')).${name} }`,
    )
    return `  '${from}': { ${getters.join(', ')} },\n`
  })
  writeFileSync(
    'dist/index.js',
    `'use strict'\nconst later = {}\nconst imports = {\n${required.join('')}}\n` +
      "const code = require('./rlock.js')\nmodule.exports = code((name) => imports[name])\n",
  )
  // Node reads this file, and not the code, to find out what an import may name. A file for `import` that requires this one
  // would take half as long again to import.
  appendFileSync('dist/index.js', `0 && (module.exports = { ${exportsOf('index.js')} })\n`)
  const imported = imports.map(([from, names], at) => {
    const value = names[0] === 'default' ? `default${at}` : `{ ${names.join(', ')} }`
    return { statement: `import ${value} from '${from}'\n`, entry: `  '${from}': ${value},\n` }
  })
  writeFileSync(
    'dist/module.mjs',
    `${imported.map(({ statement }) => statement).join('')}import code from './rlock.js'\n` +
      `const imports = {\n${imported.map(({ entry }) => entry).join('')}}\n` +
      `export const { ${exportsOf('index.js')} } = code((name) => imports[name])\n`,
  )
}

mkdirSync('dist', { recursive: true })
await writeCode()
await writeIndex()
for (const [entry, source] of Object.entries(ENTRIES)) {
  if (entry === 'index') continue
  writeFileSync(`dist/${entry}.js`, (await readable(source, { format: 'cjs' }, './index.js')).code)
  writeImport(entry)
}
for (const [entry, file] of Object.entries(FOR_BUNDLERS))
  writeFileSync(`dist/${file}.mjs`, (await readable(ENTRIES[entry], { format: 'esm' }, './module.mjs')).code)

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
