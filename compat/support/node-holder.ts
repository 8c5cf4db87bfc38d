import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Redisson, type RedissonOptions } from '../../src/index'
import { endWithThisProcess } from '../../test/kit/servers/left-behind'
import type { ObjectChoice } from './lock-peer'
import { NodeThread } from './node-peer'

/** What the child is asked to do: hold these locks and do nothing else until it is killed. */
export interface HolderOrder {
  readonly options: RedissonOptions
  /** All by one logical thread, in this order. */
  readonly locks: readonly (ObjectChoice & { readonly name: string })[]
}

export interface NodeHolder {
  readonly clientId: string
  kill(): Promise<void>
  pause(): void
  resume(): void
  /** Resolves when the child says that a hold is lost. */
  readonly lost: Promise<string>
}

/** A Node process of its own that holds locks under the watchdog: one that can die. */
export async function startNodeHolder(order: HolderOrder): Promise<NodeHolder> {
  const child: ChildProcess = fork(__filename, {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, HOLDER_ORDER: JSON.stringify(order) },
  })
  endWithThisProcess(child)
  const exited = once(child, 'exit')
  const messages = (async function* () {
    for (;;) yield ((await once(child, 'message')) as [{ clientId?: string; lost?: string }])[0]
  })()
  const first = (await Promise.race([messages.next(), exited])) as IteratorResult<{ clientId: string }>
  if (!('value' in first)) throw new Error('the holder ended before it held')
  return {
    clientId: first.value.clientId,
    lost: messages.next().then(({ value }) => value?.lost ?? ''),
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    async kill() {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await exited
    },
  }
}

/** What the child does. */
async function hold({ options, locks }: HolderOrder): Promise<void> {
  const redisson = await Redisson.create(options)
  redisson.on('lockLost', ({ reason }) => process.send!({ lost: reason }))
  const thread = new NodeThread(redisson)
  for (const { name, type } of locks) await thread.lock(name, { type })
  process.send!({ clientId: redisson.getId() })
  // The process that started us has gone: holding on would keep a lock without a use.
  process.once('disconnect', () => process.exit(1))
}

if (require.main === module) void hold(JSON.parse(process.env.HOLDER_ORDER!) as HolderOrder)
