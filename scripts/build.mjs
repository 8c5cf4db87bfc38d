// Builds dist/ of rlock and of the packages in packages/.
//
// The code of `rlock` is in one file, rlock.js, with its source map. Thin files beside it load it: index.js for `require`
// and `import`, so that both in one process share locks, holds and thread ids, internal.js for the other packages, and
// module.mjs for bundlers. Each other package has one file of code, which imports `rlock`.
//
// module.mjs (the `module` condition in package.json, which Node does not know) imports what rlock.js needs, and hands it
// over: in a bundle that is an ES module itself, what is required of Node fails when it is run. internal.mjs is the same for
// what internal.js exports.
//
// docs/internals/decisions/0009-one-code-file.md has what each part costs.
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { build, transform } from 'esbuild'
import { writeDeclarationMap } from './declaration-map.mjs'
import { extract, root, withDeclarations } from './declarations.mjs'
import { linesOnly } from './source-map-lines.mjs'

process.chdir(root)
await import('./embed-lua.mjs')

const PACKAGES = ['nestjs', 'opentelemetry', 'recipes', 'redisson-config', 'testing']
/** Tests are not bundled. */
const FOR_BUNDLERS = ['nestjs', 'opentelemetry', 'recipes', 'redisson-config']
/** What a package has beside its index: `@rlock/recipes/express`. */
const MORE_ENTRIES = { recipes: ['express', 'fastify', 'hono', 'nest'] }
const entriesOf = (name) => ['index', ...(MORE_ENTRIES[name] ?? [])]
/** Loaded when they are first used: the first client and the first lock pay for them, and not the import. */
const LOADED_LATER = ['async-mutex', 'eventemitter3', 'node:perf_hooks']

/** rlock.js has what both entries of `rlock` export. */
const RLOCK = {
  stdin: {
    contents: "export * as index from './src/index'; export * as internal from './src/internal'",
    resolveDir: root,
    sourcefile: 'rlock.ts',
  },
}

const require = createRequire(import.meta.url)

/** The code and its source map; nothing is written. */
async function bundled(entry, options) {
  const { outputFiles } = await build({
    // `npm pack` of a package runs this in the folder of that package.
    absWorkingDir: root,
    outdir: 'dist',
    bundle: true,
    packages: 'external',
    // In the sources tsconfig.json says where this is.
    external: ['rlock', 'rlock/*', '@rlock/recipes'],
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
    write: false,
    ...entry,
    ...options,
  })
  return outputFiles.at(-1).text
}

/**
 * The code without its comments, in lines that can be read. esbuild leaves comments out only together with the blanks, so
 * it prints the code twice. Names are kept: a stack trace without the map has those of the sources.
 */
async function readable(entry, options) {
  const dense = await bundled(entry, { minifyWhitespace: true, sourcemap: 'inline', ...options })
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
  const { code, map } = await readable(RLOCK, { format: 'cjs' })
  const inside = code.replace(/^"use strict";\n/, '\n').replace(/\brequire\(/g, 'imports(')
  const [start, end] = [
    'module.exports = (function (imports) { const module = {};',
    'return module.exports })',
  ]
  writeFileSync('dist/rlock.js', `"use strict"; ${start}${inside}${end}\n//# sourceMappingURL=rlock.js.map\n`)
  // The sources are in the package, where the declarations need them as files.
  const { sourcesContent, ...withoutSources } = map
  writeFileSync(
    'dist/rlock.js.map',
    JSON.stringify({ ...withoutSources, names: [], mappings: linesOnly(map.mappings) }),
  )
}

/** What the code imports by name, and as a default: `{ 'node:timers': ['default'], ioredis: ['Redis', 'Cluster'] }`. */
async function importsOf(entry) {
  const code = await bundled(entry, { format: 'esm' })
  const imports = {}
  for (const [, names, from] of code.matchAll(/^import (.+) from "([^"]+)";$/gm)) {
    const listed = /^\{ (.+) \}$/.exec(names)?.[1].split(', ') ?? ['default']
    imports[from] = [...new Set([...(imports[from] ?? []), ...listed.map((name) => name.split(' as ')[0])])]
  }
  return imports
}

const exportsOf = (file) => Object.keys(require(join(root, file))).join(', ')

/** Node reads this, and not the code, to find out what an import may name. */
const listExports = (file) => appendFileSync(file, `0 && (module.exports = { ${exportsOf(file)} })\n`)

/** The files through which rlock.js is required, imported and bundled. */
async function writeIndex() {
  const imports = Object.entries(await importsOf(RLOCK))
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
      "const code = require('./rlock.js')\nconst { index, internal } = code((name) => imports[name])\n" +
      'code.internal = internal\nmodule.exports = index\n',
  )
  // A file for `import` that requires this one would take half as long again to import.
  listExports('dist/index.js')
  writeFileSync(
    'dist/internal.js',
    "'use strict'\nrequire('./index.js')\nmodule.exports = require('./rlock.js').internal\n",
  )
  listExports('dist/internal.js')
  const imported = imports.map(([from, names], at) => {
    const value = names[0] === 'default' ? `default${at}` : `{ ${names.join(', ')} }`
    return { statement: `import ${value} from '${from}'\n`, entry: `  '${from}': ${value},\n` }
  })
  writeFileSync(
    'dist/module.mjs',
    `${imported.map(({ statement }) => statement).join('')}import code from './rlock.js'\n` +
      `const imports = {\n${imported.map(({ entry }) => entry).join('')}}\n` +
      'const { index, internal } = code((name) => imports[name])\ncode.internal = internal\n' +
      `export const { ${exportsOf('dist/index.js')} } = index\n`,
  )
  // It names a class of module.mjs, because a bundler leaves out a module of which nothing is used.
  writeFileSync(
    'dist/internal.mjs',
    "import code from './rlock.js'\nimport { Redisson } from './module.mjs'\n" +
      `export const { ${exportsOf('dist/internal.js')} } = Redisson && code.internal\n`,
  )
}

async function writePackage(name) {
  const folder = `packages/${name}`
  makeEmpty(`${folder}/dist`)
  copyFileSync('LICENSE', `${folder}/LICENSE`)
  for (const entry of entriesOf(name)) await writeEntry(folder, entry, FOR_BUNDLERS.includes(name))
}

async function writeEntry(folder, name, forBundlers) {
  const entry = { entryPoints: [`${folder}/src/${name}.ts`] }
  const dist = `${folder}/dist/${name}`
  writeFileSync(`${dist}.js`, (await readable(entry, { format: 'cjs' })).code)
  // By name: a star would let through what CommonJS has besides, such as __esModule. Required, not imported: for an import
  // Node would read all of the file to find out what it exports, which takes several times as long as to load it.
  writeFileSync(
    `${dist}.mjs`,
    "import { createRequire } from 'node:module'\n" +
      `export const { ${exportsOf(`${dist}.js`)} } = createRequire(import.meta.url)('./${name}.js')\n`,
  )
  writeFileSync(`${dist}.d.mts`, `export * from './${name}.js'\n`)
  const module = name === 'index' ? `${folder}/dist/module.mjs` : `${dist}.module.mjs`
  if (forBundlers) writeFileSync(module, (await readable(entry, { format: 'esm' })).code)
}

/** A program: one file of code, and the page beside it, which it reads when it serves it. */
async function writeCli() {
  const folder = 'packages/cli'
  const entry = { entryPoints: [`${folder}/src/main.ts`] }
  makeEmpty(`${folder}/dist`)
  copyFileSync('LICENSE', `${folder}/LICENSE`)
  // `readable` would move the line that says which program runs it.
  const code = await bundled(entry, { format: 'cjs', minifyWhitespace: false })
  writeFileSync(`${folder}/dist/rlock.js`, code)
  chmodSync(`${folder}/dist/rlock.js`, 0o755)
  const page = `${folder}/src/page/page.html`
  if (existsSync(page)) copyFileSync(page, `${folder}/dist/page.html`)
}

/** API Extractor indents each class more than the one before: two fifths of its text are blanks. */
function formatted(declarations) {
  const biome = require.resolve('@biomejs/biome/bin/biome')
  const args = [biome, 'format', '--stdin-file-path=index.d.ts']
  return execFileSync(process.execPath, args, { input: declarations, encoding: 'utf8' })
}

function makeEmpty(folder) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
}

makeEmpty('dist')
await writeCode()
await writeIndex()
for (const name of PACKAGES) await writePackage(name)
await writeCli()

withDeclarations((folder) => {
  const rolledUp = (source, file) => {
    extract(folder, source, { dtsRollup: { enabled: true, untrimmedFilePath: join(root, file) } })
    writeFileSync(file, formatted(readFileSync(file, 'utf8')))
    writeDeclarationMap(file, dirname(source))
  }
  // The first, because the others import it.
  rolledUp('src/index.d.ts', 'dist/index.d.ts')
  for (const name of PACKAGES)
    for (const entry of entriesOf(name))
      rolledUp(`packages/${name}/src/${entry}.d.ts`, `packages/${name}/dist/${entry}.d.ts`)
})
