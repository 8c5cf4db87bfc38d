// What may import what, types included. docs/internals/architecture.md says why, test/README.md for the folders beside src/.

import { Visitor } from '@swc/core/Visitor.js'

// The visitor with which dependency-cruiser finds imports does not know `using`, which contains none.
const { visitStatement } = Visitor.prototype
Visitor.prototype.visitStatement = function (statement) {
  return statement.type === 'UsingDeclaration' ? statement : visitStatement.call(this, statement)
}

/** The folders of src/, the lowest first: each imports itself and those before it. */
const LAYERS = 'ownership util api redis scripts leases waiting client engine multi locks'.split(' ')
/** Beside engine/, multi/ and locks/: it imports client/ and what is below. */
const SYNCHRONIZERS = 'synchronizers'
const TOP = 'src|packages|test|compat|bench|demo|tools|examples'

const folders = (names) => `^src/(${names.join('|')})/`
const rule = (name, from, to, comment) => ({ name, severity: 'error', from, to, comment })

const layer = (name, below) =>
  rule(
    `src/${name}`,
    { path: folders([name]) },
    { path: '^src/', pathNot: folders([name, ...below]) },
    'Dependencies point downwards (docs/internals/architecture.md, Layers).',
  )

/** A folder at the top that imports sources, test/kit/, itself, and perhaps one more. */
const beside = (name, other = name) =>
  rule(
    name,
    { path: `^${name}/` },
    { path: `^(${TOP})/`, pathNot: `^(src|packages|test/kit|${name}|${other})/` },
    'test/README.md says what it may import.',
  )

export default {
  forbidden: [
    rule('no cycle', {}, { circular: true }, 'Types count, too.'),
    ...LAYERS.map((name, at) => layer(name, LAYERS.slice(0, at))),
    layer(SYNCHRONIZERS, LAYERS.slice(0, LAYERS.indexOf('client') + 1)),
    rule(
      'a layer for each folder of src',
      { path: '^src/[^/]+/', pathNot: folders([...LAYERS, SYNCHRONIZERS]) },
      {},
      'Enter the folder among the layers of .dependency-cruiser.mjs.',
    ),
    rule(
      'src',
      { path: '^src/' },
      { path: `^(${TOP})/`, pathNot: '^src/' },
      'src/ imports nothing outside src/.',
    ),
    rule(
      'packages',
      { path: '^packages/([^/]+)/src/' },
      { path: `^(${TOP})/`, pathNot: '^packages/($1/(src/|package\\.json$)|[^/]+/dist/)' },
      'The sources of a package import rlock and other packages by their names, themselves, and their package.json.',
    ),
    rule(
      'rlock/internal',
      { path: '^packages/[^/]+/src/', pathNot: '^packages/(testing|cli|recipes)/' },
      { path: 'internal' },
      'Only @rlock/testing, @rlock/cli and @rlock/recipes need more than the API.',
    ),
    rule(
      'test',
      { path: '^test/' },
      { path: `^(${TOP})/`, pathNot: '^(src|packages|test)/' },
      'test/README.md',
    ),
    rule(
      'test/kit',
      { path: '^test/kit/' },
      { path: `^(${TOP})/`, pathNot: '^(src|packages/testing/src|test/kit)/' },
      'The kit is for all, so it needs nothing but sources (test/README.md).',
    ),
    rule(
      'test/unit',
      { path: '^test/unit/' },
      { path: '^test/kit/(servers|java|clients|proxies|program)(/|\\.)' },
      'A spec of test/unit/ starts no server.',
    ),
    beside('compat', 'tools'),
    beside('bench'),
    beside('demo', 'examples'),
    beside('tools'),
    beside('examples'),
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: '(^|/)(node_modules|dist)/',
    enhancedResolveOptions: { extensions: ['.ts', '.mts', '.mjs', '.js', '.json'] },
  },
}
