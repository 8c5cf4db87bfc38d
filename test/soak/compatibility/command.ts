import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { closeAll, createRedisson, openRedis, uniqueName } from '../../kit/clients'
import { endWithThisProcess } from '../../kit/servers/left-behind'
import { waitUntil } from '../../kit/servers/wait-until'
import { checked, type Failure, type Outcome } from './result'

/** What each command of `rlock` shows on a Node: one row of the page each. */
export const COMMAND_CHECKS = [
  { name: 'help', title: '`rlock --help`' },
  { name: 'ls', title: '`rlock ls` finds a lock, and the process that holds it' },
  { name: 'show', title: '`rlock show` says who waits' },
  { name: 'unlock', title: '`rlock unlock --yes` frees it, and its holder notices' },
  { name: 'exec', title: '`rlock exec` holds the lock while a command runs, and ends with its code' },
  { name: 'watch', title: '`rlock watch` shows an acquisition and a release' },
  { name: 'doctor', title: '`rlock doctor` finds a planted defect' },
  { name: 'page', title: '`rlock page` serves its page' },
] as const

export type CommandCheck = (typeof COMMAND_CHECKS)[number]['name']

export interface CommandRun {
  /** The binary of Node. */
  readonly node: string
  /** A project in which the command is installed. */
  readonly project: string
  readonly url: string
}

/** One run of the installed command. */
class Rlock {
  out = ''
  err = ''
  readonly ended: Promise<number | null>
  private readonly child

  constructor({ node, project, url }: CommandRun, args: readonly string[]) {
    const file = join(project, 'node_modules/@rlock/cli/dist/rlock.js')
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, REDIS_URL: url }
    this.child = spawn(node, [file, ...args], { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] })
    endWithThisProcess(this.child)
    this.child.stdout.on('data', (chunk: Buffer) => {
      this.out += chunk
    })
    this.child.stderr.on('data', (chunk: Buffer) => {
      this.err += chunk
    })
    this.ended = once(this.child, 'close').then(([code]) => code)
  }

  async says(text: string): Promise<void> {
    await waitUntil(`the output contains ${text}`, () => this.out.includes(text))
  }

  async stop(): Promise<number | null> {
    this.child.kill('SIGINT')
    return await this.ended
  }
}

/** Each check throws if it does not hold. */
const CHECKS: Record<CommandCheck, (run: CommandRun) => Promise<void>> = {
  async help(run) {
    await ends(run, ['--help'], 0, 'usage: rlock <command>')
  },
  async ls(run) {
    const held = await hold(run, 'orders')
    await ends(run, ['ls', held.lockName, '--json'], 0, '"label":"orders"')
    await held.unlock()
  },
  async show(run) {
    const held = await hold(run, 'orders')
    const waiter = await createRedisson({ redis: run.url, label: 'billing' })
    const waiting = waiter.getLock(held.lockName).acquire()
    // After a failure it ends with its client.
    waiting.catch(() => {})
    await waitUntil('it waits', () => waiter.stats().waiting === 1)
    await ends(run, ['show', held.lockName], 0, 'billing has waited')
    await held.unlock()
    await (await waiting).unlock()
  },
  async unlock(run) {
    const { lockName, signal } = await hold(run, 'orders')
    await ends(run, ['unlock', lockName, '--yes'], 0, `${lockName}: freed`)
    await waitUntil('the holder notices', () => signal.aborted)
  },
  async exec(run) {
    const name = uniqueName()
    const redis = await openRedis(run.url)
    const command = new Rlock(run, ['exec', name, '--', 'sh', '-c', 'echo inside; sleep 1; exit 7'])
    await command.says('inside')
    if ((await redis.exists(name)) !== 1) throw new Error('the lock was not held while the command ran')
    const code = await command.ended
    if (code !== 7) throw new Error(`it ended with ${code} instead of 7: ${command.err}`)
    if ((await redis.exists(name)) !== 0) throw new Error('the lock was not free afterwards')
  },
  async watch(run) {
    const watching = new Rlock(run, ['watch', '--json', '--enable-notifications'])
    await watching.says('"watching"')
    const held = await hold(run, 'orders')
    await watching.says(`"acquired","name":"${held.lockName}"`)
    await held.unlock()
    await watching.says(`"released","name":"${held.lockName}"`)
    const code = await watching.stop()
    if (code !== 0) throw new Error(`it ended with ${code}: ${watching.err}`)
  },
  async doctor(run) {
    const redis = await openRedis(run.url)
    await redis.hset('planted', '0b6d2a3e-1111-4222-8333-944444444444:1', 1)
    await ends(run, ['doctor', '--json'], 1, '"id":"no-expiry"')
    await redis.del('planted')
  },
  async page(run) {
    const page = new Rlock(run, ['page', '--no-open', '--json'])
    await page.says('\n')
    const { status } = await fetch(JSON.parse(page.out).address)
    if (status !== 200) throw new Error(`the page was answered with ${status}`)
    const code = await page.stop()
    if (code !== 0) throw new Error(`it ended with ${code}: ${page.err}`)
  },
}

const hold = async ({ url }: CommandRun, label: string) =>
  await (await createRedisson({ redis: url, label })).getLock(uniqueName()).acquire()

async function ends(run: CommandRun, args: readonly string[], wanted: number, text: string): Promise<void> {
  const command = new Rlock(run, args)
  const code = await command.ended
  if (code !== wanted || !command.out.includes(text))
    throw new Error(`rlock ${args[0]} ended with ${code} instead of ${wanted}: ${command.out}${command.err}`)
}

/** Runs every check, one after the other. */
export async function runCommand(run: CommandRun): Promise<Outcome> {
  const failures: Failure[] = []
  for (const { name, title } of COMMAND_CHECKS) {
    await CHECKS[name](run).catch(({ message }: Error) => failures.push({ part: name, title, message }))
    await closeAll()
  }
  return checked(COMMAND_CHECKS, failures)
}
