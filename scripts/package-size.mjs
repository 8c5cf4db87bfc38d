// Prints what each file of the built package adds to its packed size, and what other ways to build the code would cost.
// A file is measured for itself, compressed as npm does it.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { root } from './declarations.mjs'

process.chdir(root)
const npm = { encoding: 'utf8', shell: process.platform === 'win32' }
const [pack] = JSON.parse(execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], npm))

const kB = (bytes) => (bytes / 1000).toFixed(1).padStart(7)
const packed = (text) => gzipSync(text, { level: 9 }).length
const line = (what, text) => console.log(`${kB(packed(text))} kB packed ${kB(text.length)} kB  ${what}`)

console.log(`${kB(pack.size)} kB packed ${kB(pack.unpackedSize)} kB  the package`)
const isSource = ({ path }) => path.startsWith('src/')
const others = pack.files.filter((file) => !isSource(file))
for (const { path } of others.toSorted((a, b) => b.size - a.size)) line(path, readFileSync(path))
const sources = pack.files.filter(isSource).map(({ path }) => readFileSync(path, 'utf8'))
// One after the other, as they are in the package.
line(`src: ${sources.length} sources`, sources.join(''))
const withoutComments = sources.map((source) =>
  source
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ''))
    .replace(/^\s*\/\/.*$/gm, ''),
)
line('the sources with empty lines in place of comments', withoutComments.join(''))

/** The bundle of the entry `rlock`, built with these options. */
async function bundled(options) {
  const { outputFiles } = await build({
    entryPoints: ['src/index.ts'],
    outdir: 'dist',
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    sourcemap: 'external',
    write: false,
    ...options,
  })
  return Object.fromEntries(
    outputFiles.map(({ path, text }) => [path.endsWith('.map') ? 'map' : 'code', text]),
  )
}

console.log('\nthe code in other ways')
const plain = await bundled({})
line('with its comments', plain.code)
line('the entries of its source map: one for each token', JSON.parse(plain.map).mappings)
line('in one line', (await bundled({ minifyWhitespace: true, minifySyntax: true })).code)
line('in one line, with short names', (await bundled({ minify: true })).code)
line('as an ES module, with its comments', (await bundled({ format: 'esm' })).code)
for (const names of ['Redisson', 'TimeUnit, LockLostError']) {
  const contents = `import { ${names} } from './src/index'; console.log(${names})`
  const shaken = await bundled({ entryPoints: [], stdin: { contents, resolveDir: root }, format: 'esm' })
  line(`what a bundler would keep of such a module for ${names}`, shaken.code)
}
