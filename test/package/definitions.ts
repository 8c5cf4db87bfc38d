import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect } from 'chai'
import { InstalledPackage } from './installed-package'

/** The server that editors ask. TypeScript 7 has another; API Extractor brings one of before. */
const editorServer = () =>
  createRequire(require.resolve('@microsoft/api-extractor/package.json')).resolve(
    'typescript/lib/tsserver.js',
  )

/** Asks the server of editors where the names of a text are defined, and answers with `file:line` of each. */
async function definitions(project: string, text: string, names: readonly string[]) {
  const file = join(project, 'definitions.mts')
  writeFileSync(file, text)
  const server = spawn(process.execPath, [editorServer(), '--disableAutomaticTypingAcquisition'], {
    cwd: project,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(server, 'exit')
  try {
    const send = (seq: number, command: string, args: object) =>
      server.stdin.write(`${JSON.stringify({ seq, type: 'request', command, arguments: args })}\n`)
    send(0, 'open', { file, fileContent: text })
    const lines = text.split('\n')
    for (const [at, name] of names.entries()) {
      const line = lines.findIndex((each) => each.includes(name))
      send(at + 1, 'definition', { file, line: line + 1, offset: lines[line]!.indexOf(name) + 1 })
    }
    const answers: string[] = []
    for await (const line of createInterface(server.stdout)) {
      if (!line.startsWith('{')) continue
      const message = JSON.parse(line)
      if (message.command !== 'definition') continue
      const [definition] = message.body ?? []
      answers.push(definition ? `${definition.file}:${definition.start.line}` : 'none')
      if (answers.length === names.length) break
    }
    return answers
  } finally {
    server.kill()
    await exited
  }
}

/** Run by package.test.ts: two files at once would build `dist` over each other. */
export function definitionsSuite() {
  describe('Go to definition in the installed package', function () {
    this.timeout(240_000)

    let installed: InstalledPackage
    before(async () => {
      installed = await InstalledPackage.install(['redisson-config'])
    })
    after(() => installed?.remove())

    it('Go to definition opens the TypeScript of a class, a method, a type and a package', async () => {
      const text = [
        "import { Redisson, type RLock } from 'rlock'",
        "import { fromRedissonConfig } from '@rlock/redisson-config'",
        'export async function withOne(lock: RLock) {',
        '  const redisson = await Redisson.create(fromRedissonConfig("").options)',
        '  const semaphore = redisson.getSemaphore("s")',
        '  await lock.forceUnlock()',
        '  return semaphore',
        '}',
      ].join('\n')
      const names = ['RLock }', 'fromRedissonConfig }', 'create(', 'getSemaphore(', 'forceUnlock(']
      const found = await definitions(installed.project, text, names)
      const lines = found.map((place) => {
        const [, inModules, line] = /node_modules\/(.+):(\d+)$/.exec(place) ?? []
        if (!inModules) return place
        return `${inModules}: ${installed.text(inModules).split('\n')[Number(line) - 1]!.trim()}`
      })
      const expected = [
        /^rlock\/src\/.+\.ts: export interface RLock\b/,
        /^@rlock\/redisson-config\/src\/.+\.ts: export (async )?function fromRedissonConfig\b/,
        /^rlock\/src\/redisson\.ts: static .*\bcreate\b/,
        /^rlock\/src\/redisson\.ts: getSemaphore\(/,
        /^rlock\/src\/.+\.ts: forceUnlock\(/,
      ]
      expect(lines).to.have.lengthOf(expected.length)
      for (const [at, line] of lines.entries()) expect(line, names[at]).to.match(expected[at]!)
    })
  })
}
