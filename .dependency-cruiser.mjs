// What may import what, types included. docs/internals/architecture.md says why, test/README.md for the folders beside src/.

import { Visitor } from '@swc/core/Visitor.js'

// The visitor with which dependency-cruiser finds imports does not know `using`, which contains none.
const { visitStatement } = Visitor.prototype
Visitor.prototype.visitStatement = function (statement) {
  return statement.type === 'UsingDeclaration' ? statement : visitStatement.call(this, statement)
}

/** The folders of src/, the lowest first: each imports itself and those before it. */
const LAYERS = 'ownership util api redis scripts leases waiting client engine multi locks'.split(' ')
/** The folders of src/redis/: what a reply means, what connections report, what users connect with, then how we connect, send and listen. */
const REDIS = 'reply reports target connect send replica-ack listen'.split(' ')
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

const redisLayer = (name, below) =>
  rule(
    `src/redis/${name}`,
    { path: `^src/redis/${name}/` },
    { path: '^src/redis/', pathNot: `^src/redis/(${[name, ...below].join('|')})/` },
    'Dependencies point downwards inside src/redis/, too.',
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
    ...REDIS.map((name, at) => redisLayer(name, REDIS.slice(0, at))),
    layer(SYNCHRONIZERS, LAYERS.slice(0, LAYERS.indexOf('client') + 1)),
    rule(
      'a layer for each folder of src',
      { path: '^src/[^/]+/', pathNot: folders([...LAYERS, SYNCHRONIZERS]) },
      {},
      'Enter the folder among the layers of .dependency-cruiser.mjs.',
    ),
    rule(
      'a layer for each folder of src/redis',
      { path: '^src/redis/', pathNot: `^src/redis/(${REDIS.join('|')})/` },
      {},
      'Enter the folder among the rooms of .dependency-cruiser.mjs.',
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
      { path: '^test/', pathNot: '^test/(soak/chaos|unit/soak)/' },
      { path: `^(${TOP})/`, pathNot: '^(src|packages|test)/' },
      'test/README.md',
    ),
    rule(
      'test/soak/chaos',
      { path: '^test/(soak/chaos|unit/soak)/' },
      {
        path: `^(${TOP})/`,
        pathNot: '^(src|packages|test|tools/simulator/(judge|story/(text|timeline)))(/|\\.)',
      },
      'What a run recorded is read by the judge of the simulator.',
    ),
    rule(
      'tools/simulator/judge',
      { path: '^tools/simulator/judge/' },
      { path: `^(${TOP})/`, pathNot: '^tools/simulator/judge/' },
      'It reads histories, whoever wrote them.',
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
