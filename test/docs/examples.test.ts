import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { Redisson } from '../../src/index'
import { openUntilTheEnd } from '../kit/closing'
import { type Example, examples, textOf } from '../kit/docs/pages'
import { sourceExamples } from '../kit/docs/source-examples'
import { ownServer, withClient } from '../kit/servers/index'
import { CompiledExamples, givenNames } from './compiled-examples'
import { given } from './given'
import { Places } from './places'

const TYPESCRIPT = [...examples('ts').filter(({ elsewhere }) => !elsewhere), ...sourceExamples()]
const ELSEWHERE = examples('ts').filter(({ elsewhere }) => elsewhere)
const COMMANDS = examples('sh').filter(({ code }) => /^redis-cli\b/.test(code))

/** Every example of the README, of docs/ and of the comments in src/ is compiled and run against a real server. */
describe('The examples of the pages', function () {
  this.timeout(60_000)

  openUntilTheEnd()
  const server = ownServer()
  let places: Places
  let compiled: CompiledExamples
  let clients: Redisson[]
  const { create } = Redisson

  before(async () => {
    places = await Places.open(server, TYPESCRIPT)
    compiled = new CompiledExamples(TYPESCRIPT, places.replacements)
    Redisson.create = async (options) => {
      const client = await create(options)
      clients.push(client)
      return client
    }
  })
  after(async () => {
    Redisson.create = create
    compiled?.remove()
    await places?.close()
  })
  beforeEach(() => {
    clients = []
  })
  afterEach(async () => {
    await Promise.all(clients.map((client) => client.shutdown({ timeout: 0 })))
    // What guides/runtimes.md keeps there for reloads.
    Reflect.deleteProperty(globalThis, 'rlock')
    await withClient(server, (client) => client.flushall())
  })

  it('The examples of the pages compile for strict TypeScript consumers', () => compiled.check())

  for (const page of new Set(
    TYPESCRIPT.map((example) => example.page).filter((page) => page.endsWith('.md')),
  ))
    it(`${page} says at its beginning which names its examples take as given`, () => {
      const given = TYPESCRIPT.filter((example) => example.page === page).flatMap(({ code }) =>
        givenNames(code),
      )
      const said = /^> In the examples (.+)$/m.exec(textOf(page))?.[1]?.match(/(?<=`)\w+(?=(\(\))?`)/g) ?? []
      expect(new Set(said)).to.deep.equal(new Set(given))
    })

  for (const example of TYPESCRIPT)
    it(`The example in ${placeOf(example)} runs`, async () => {
      const listeners = new Set(process.listeners('SIGTERM'))
      const run = await compiled.load(example)
      let checked = 0
      await run(given(await Redisson.create({ redis: server.url }), server.url), (actual, expected) => {
        expect(actual).to.deep.equal(expected)
        checked++
      })
      expect(checked).to.equal(example.code.match(/\/\/ → /g)?.length ?? 0)
      for (const listener of process.listeners('SIGTERM'))
        if (!listeners.has(listener)) process.off('SIGTERM', listener)
    })

  for (const example of ELSEWHERE)
    it(`The example in ${placeOf(example)} is that of ${example.elsewhere!.file}, or run by it`, () => {
      const { how, file } = example.elsewhere!
      const lines = (text: string) => text.split('\n').map((line) => line.trim())
      const there = readFileSync(join(__dirname, '../..', file), 'utf8')
      if (how === 'from') expect(lines(there).join('\n')).to.contain(lines(example.code).join('\n'))
      else expect(there).to.contain(basename(example.page))
    })

  for (const example of COMMANDS)
    it(`The commands in ${placeOf(example)} work on the lock order:42, which is held`, async function () {
      const found = await promisify(execFile)('redis-cli', ['--version']).catch(() => undefined)
      if (!found) return this.skip()
      await (await Redisson.create({ redis: server.url })).getLock('order:42').lock()
      for (const [, words, answer] of example.code.matchAll(/^redis-cli (.+?)(?: +# → (.+))?$/gm)) {
        const command = `redis-cli -h ${server.host} -p ${server.port} ${words}`
        const { stdout } = await promisify(execFile)('sh', ['-c', command])
        expect(stdout).to.not.match(/^\(?ERR|WRONGTYPE|NOPERM/m)
        if (answer) expect(stdout.trim()).to.match(asPattern(answer))
      }
    })
})

/** An answer as a page shows it: what differs from run to run stands in angle brackets. */
function asPattern(answer: string): RegExp {
  const values: Record<string, string> = {
    '<client id>': '[\\w-]{36}',
    '<thread id>': '\\d+',
    '<ms>': '\\d+',
  }
  const parts = answer.split(/(<[\w ]+>| )/).map((part) => (part === ' ' ? '\\s+' : (values[part] ?? part)))
  return new RegExp(`^${parts.join('')}$`)
}

function placeOf({ page, line }: Example): string {
  return `${page}, line ${line},`
}
