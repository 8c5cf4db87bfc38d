import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { startStandalone } from '../../kit/servers/index'
import { endWithThisProcess, removeWithThisProcess } from '../../kit/servers/left-behind'
import type { Answers, FromClient, Order, Result } from './messages'
import { ServerWatch } from './server-watch'

const ROOT = join(__dirname, '../../..')

/** The lock client as it is published, and as its sources are now. */
export const PACKAGE = async () => join(ROOT, 'dist/index.js')
export const SOURCES = () => compiled('src/index.ts')

/** Plain JavaScript for plain node: what runs TypeScript directly would be in the figures. */
async function compiled(source: string): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'rlock-endurance-'))
  removeWithThisProcess(directory)
  const outfile = join(directory, 'program.js')
  await build({
    ...{ entryPoints: [join(ROOT, source)], outfile, bundle: true, logLevel: 'error' },
    ...{ platform: 'node', target: 'node20', format: 'cjs' },
  })
  return outfile
}

/**
 * Does and measures one part with the lock client of `module`, in a process of its own and on a server of its own. Rejects when
 * that fails on the way.
 */
export async function measure(
  order: Order,
  module: () => Promise<string>,
  onProgress: (text: string) => void = () => {},
): Promise<{ result: Result; serverVersion: string }> {
  const [client, locks] = await Promise.all([compiled('test/soak/endurance/client/main.ts'), module()])
  const server = await startStandalone()
  const watch = new ServerWatch(server.url)
  try {
    const child = fork(client, [locks, server.url, JSON.stringify(order)], {
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    })
    endWithThisProcess(child)
    const result = await resultOf(child, watch.answers, onProgress)
    return { result, serverVersion: await watch.version() }
  } finally {
    watch.close()
    await server.stop()
  }
}

async function resultOf(
  child: ChildProcess,
  answers: Answers,
  onProgress: (text: string) => void,
): Promise<Result> {
  let errors = ''
  child.stderr!.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  const result = await new Promise<Result>((resolve, reject) => {
    let result: Result | undefined
    child.on('message', (message: FromClient) => {
      if (message.kind === 'result') result = message.result
      else if (message.kind === 'progress') onProgress(message.text)
      else answer(child, message.id, answers[message.question]).catch(reject)
    })
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      if (result && code === 0) resolve(result)
      else reject(new Error(`the client process ended with ${signal ?? `code ${code}`}: ${errors.trim()}`))
    })
  }).finally(() => child.kill('SIGKILL'))
  if (errors) throw new Error(`the client process wrote to stderr: ${errors.trim()}`)
  return result
}

async function answer(child: ChildProcess, id: number, give: () => Promise<unknown>) {
  const answer = await give()
  if (child.connected) child.send({ id, answer })
}
