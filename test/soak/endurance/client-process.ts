import { type ChildProcess, fork } from 'node:child_process'
import { endWithThisProcess } from '../../kit/servers/left-behind'
import type { FromClient, Order, Questions, Result } from './messages'
import type { Programs } from './programs'

export type Answers = { readonly [Q in keyof Questions]: () => Promise<Questions[Q]> }

export interface ClientProcessOptions {
  readonly programs: Programs
  readonly redis: string
  readonly order: Order
  readonly answers: Answers
  readonly onProgress: (text: string) => void
}

/** Has one part done and measured by a process of its own; rejects when that fails on the way. */
export async function inClientProcess(options: ClientProcessOptions): Promise<Result> {
  const { programs, redis, order } = options
  const child = fork(programs.client, [programs.module, redis, JSON.stringify(order)], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
  endWithThisProcess(child)
  let errors = ''
  child.stderr!.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  const result = await new Promise<Result>((resolve, reject) => {
    let result: Result | undefined
    child.on('message', (message: FromClient) => {
      if (message.kind === 'result') result = message.result
      else if (message.kind === 'progress') options.onProgress(message.text)
      else answer(child, message.id, options.answers[message.question]).catch(reject)
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
