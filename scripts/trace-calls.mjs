// Writes the table of docs/internals/architecture.md that says which files of src/ one uncontended call visits: npm run trace.
//
// Each function of src/ reports its file when it is entered. A return is an entry into a file that was left before. What
// the call does later, such as arming a timer that fires afterwards, is not counted.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { parseSync } from '@swc/core'
import { build } from 'esbuild'
import { root } from './declarations.mjs'

process.chdir(root)
await import('./embed-lua.mjs')

const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression', 'Constructor']
const BRACE = 0x7b
const METHODS = ['ClassMethod', 'PrivateMethod', 'MethodProperty', 'GetterProperty', 'SetterProperty']

/** The source with a report at the start of each function. */
function reporting(source, file) {
  // The first token is at the start, so that positions can be counted from it.
  const text = Buffer.from(`;${source}`)
  const ast = parseSync(text.toString(), { syntax: 'typescript', decorators: true, target: 'es2022' })
  const entered = `globalThis.visited?.push(${JSON.stringify(file)})`
  // The server lives in this process, and reads the time and sets timers by the package. A call to a real one does not do that for it.
  const report = file.startsWith('util/') ? `globalThis.isOfServer?.() || ${entered}` : entered
  const inserted = []
  const visit = (node) => {
    if (typeof node !== 'object' || node === null) return
    const body = FUNCTIONS.includes(node.type)
      ? node.body
      : METHODS.includes(node.type)
        ? (node.function ?? node).body
        : null
    if (body) {
      const [start, end] = [body.span.start - ast.span.start, body.span.end - ast.span.start]
      if (text[start] === BRACE) inserted.push([start + 1, `${report};`])
      else inserted.push([start, `(${report},`], [end, ')'])
    }
    for (const child of Object.values(node)) visit(child)
  }
  visit(ast.body)
  const parts = []
  let at = 0
  for (const [position, insertion] of inserted.sort(([a], [b]) => a - b)) {
    parts.push(text.subarray(at, position), Buffer.from(insertion))
    at = position
  }
  return Buffer.concat([...parts, text.subarray(at)]).toString()
}

const plugin = {
  name: 'reports',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const file = relative(root, path).replaceAll('\\', '/')
      if (!file.startsWith('src/') || file.endsWith('lua.generated.ts')) return undefined
      return { contents: reporting(readFileSync(path, 'utf8'), file.slice(4)), loader: 'ts' }
    }),
}

const outfile = join(root, '.tmp/trace.cjs')
await build({
  stdin: { contents: "export * from 'rlock'; export * from '@rlock/testing'", resolveDir: root },
  tsconfig: 'tsconfig.json',
  outfile,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  external: ['ioredis', 'wasmoon-lua5.1', 'async-mutex', 'eventemitter3', 'cluster-key-slot'],
  plugins: [plugin],
  logLevel: 'warning',
})
const { Redisson, inMemoryRedis } = createRequire(import.meta.url)(outfile)

const OF_SERVER = / (InMemoryServer|Engine)\./
globalThis.isOfServer = () => OF_SERVER.test(new Error().stack)

/** The files in the order of their first visit, and how often a file is entered again. */
async function traced(call) {
  globalThis.visited = []
  await call()
  const { visited } = globalThis
  globalThis.visited = undefined
  const rooms = visited.filter((file, at) => file !== visited[at - 1])
  const files = [...new Set(rooms)]
  return { files, returns: rooms.length - files.length }
}

const redisson = await Redisson.create({ redis: inMemoryRedis() })
const lock = redisson.getLock('order')
const semaphore = redisson.getSemaphore('seats')
await semaphore.trySetPermits(10)
await lock.withLock(() => {})
await semaphore.acquire()
const CALLS = {
  'lock()': () => lock.lock(),
  'unlock()': () => lock.unlock(),
  'acquire()` of a semaphore': () => semaphore.acquire(),
}
const rows = []
await redisson.run(async () => {
  for (const [name, call] of Object.entries(CALLS)) {
    const { files, returns } = await traced(call)
    const label = name.endsWith('semaphore') ? `\`${name}` : `\`${name}\``
    rows.push(
      `| ${label} | ${files.length} | ${returns} | ${files.map((file) => file.replace(/\.ts$/, '')).join(', ')} |`,
    )
    console.log(`${name.replace('`', '')}: ${files.length} files, ${returns} returns`)
  }
})
await redisson.shutdown({ timeout: 0 })

/** The fields of a class, with those that its constructor declares. */
function fieldsOf([file, name]) {
  const ast = parseSync(readFileSync(file, 'utf8'), { syntax: 'typescript', target: 'es2022' })
  const { body } = ast.body
    .map((item) => item.declaration ?? item)
    .find(({ type, identifier }) => type === 'ClassDeclaration' && identifier.value === name)
  return body.flatMap((member) =>
    member.type === 'Constructor'
      ? member.params.filter(({ type }) => type === 'TsParameterProperty')
      : /^(Class|Private)Property$/.test(member.type) && !member.isStatic && !member.isAbstract
        ? [member]
        : [],
  )
}

/** Each once, also where the hold declares it again. */
const fields = [
  ...new Map(
    [
      ['src/engine/hold.ts', 'Hold'],
      ['src/leases/lease.ts', 'Lease'],
    ]
      .flatMap(fieldsOf)
      .map((field) => [(field.key ?? field.param).value, field]),
  ).values(),
]
const isWritten = ({ type, accessibility, readonly }) =>
  type !== 'PrivateProperty' && accessibility !== 'private' && accessibility !== 'protected' && !readonly
const counted = `A hold and its lease have ${fields.length} fields together; ${fields.filter(isWritten).length} of them can be written from outside their class.`
console.log(counted)

const [START, END] = ['<!-- written by npm run trace -->\n', '<!-- end of the trace -->']
const page = 'docs/internals/architecture.md'
const text = readFileSync(page, 'utf8')
const table = ['| call | files | returns | in this order |', '| --- | --: | --: | --- |', ...rows].join('\n')
const [before, rest] = text.split(START)
writeFileSync(page, `${before}${START}\n${table}\n\n${counted}\n\n${END}${rest.split(END)[1]}`)
