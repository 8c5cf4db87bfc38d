import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { openRedis } from '../../../test/kit/clients'
import { closedAfterEach } from '../../../test/kit/closing'
import { waitUntil } from '../../../test/kit/servers/index'
import { endWithThisProcess, removeWithThisProcess } from '../../../test/kit/servers/left-behind'

const SOURCES = join(__dirname, '../src')
let built: Promise<string> | undefined

/** The tool as one file, built once: that starts faster than its sources. */
function program(): Promise<string> {
  built ??= (async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rlock-cli-'))
    removeWithThisProcess(folder)
    const outfile = join(folder, 'rlock.js')
    await build({
      entryPoints: [join(SOURCES, 'main.ts')],
      outfile,
      bundle: true,
      platform: 'node',
      target: 'node20',
      tsconfig: join(__dirname, '../../../tsconfig.json'),
      logLevel: 'error',
    })
    const page = join(SOURCES, 'page/page.html')
    if (existsSync(page)) cpSync(page, join(folder, 'page.html'))
    return outfile
  })()
  return built
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
  /** The lines of the output as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what is printed.
  readonly json: any[]
}

/** One run of the tool that has not ended yet. */
export class Run {
  out = ''
  err = ''
  readonly ended: Promise<Ended>

  constructor(readonly child: ChildProcess) {
    endWithThisProcess(child)
    child.stdout?.on('data', (chunk: Buffer) => {
      this.out += chunk
    })
    child.stderr?.on('data', (chunk: Buffer) => {
      this.err += chunk
    })
    this.ended = once(child, 'close').then(
      ([code, signal]): Ended => ({
        code,
        signal,
        out: this.out,
        err: this.err,
        get json(): unknown[] {
          return this.out
            .split('\n')
            .filter((line) => line !== '')
            .map((line) => JSON.parse(line))
        },
      }),
    )
  }

  /** Ends it as Ctrl-C does. */
  async interrupt(): Promise<Ended> {
    this.child.kill('SIGINT')
    return await this.ended
  }
}

const running = new Set<Run>()

/** Starts the tool with these arguments. */
export async function start(args: readonly string[], env: Record<string, string> = {}): Promise<Run> {
  const child = spawn(process.execPath, [await program(), ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  return kept(new Run(child))
}

/** Whether `script` of util-linux is there, which gives a program a terminal. */
export const hasTerminal = () => spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0

/** Starts the tool with these arguments on a terminal; its input may come from a file. */
export async function onTerminal(args: readonly string[], input?: string): Promise<Run> {
  const words = [process.execPath, await program(), ...args].map(
    (word) => `'${word.replaceAll("'", `'\\''`)}'`,
  )
  const child = spawn(
    'script',
    ['-qec', `exec ${words.join(' ')}${input === undefined ? '' : ` < ${input}`}`, '/dev/null'],
    {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, SHELL: '/bin/sh', NO_COLOR: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  )
  return kept(new Run(child))
}

function kept(run: Run): Run {
  running.add(run)
  void run.ended.then(() => running.delete(run))
  return run
}

/** Runs the tool with these arguments until it ends. */
export async function rlock(args: readonly string[], env?: Record<string, string>): Promise<Ended> {
  return await (await start(args, env)).ended
}

export interface Served {
  readonly url: URL
  readonly token: string
  readonly run: Run
}

/** Starts `rlock page` for the server, with these further arguments. */
export async function servePageOf(redis: string, ...args: string[]): Promise<Served> {
  const run = await start(['page', '--redis', redis, '--no-open', '--json', ...args])
  await waitUntil('it has printed its address', () => run.out.includes('\n'))
  const url = new URL(JSON.parse(run.out).address)
  return { url, token: url.hash.slice(1), run }
}

/** Starts `rlock watch`, and waits until it watches. */
export async function startWatching(args: readonly string[], env?: Record<string, string>): Promise<Run> {
  const run = await start(['watch', '--json', ...args], env)
  await waitUntil('it watches', () => run.out.includes('"watching"'))
  return run
}

interface Seen {
  readonly event: string
  readonly name: string
  readonly owner: string
  readonly from: string | null
}

/** What `rlock watch` says of itself. */
export const watchedBy = (run: Run) =>
  JSON.parse(run.out.split('\n')[0]!) as { sources: string[]; unseen: string[] }

/** The events that `rlock watch` has shown, of one name or of all. */
export const seenBy = (run: Run, name?: string) =>
  run.out
    .split('\n')
    .slice(1, -1)
    .map((line) => JSON.parse(line) as Seen)
    .filter((each) => name === undefined || each.name === name)

export const untilSeen = (run: Run, event: string, name: string) =>
  waitUntil(`${event} is seen`, () => seenBy(run, name).some((each) => each.event === event), 20_000)

/** A process that answers inspectors with what it likes, in batches. */
export async function answerInspectors(
  redis: string,
  answers: () => Iterable<readonly string[]>,
): Promise<void> {
  const [listener, voice] = [await openRedis(redis), await openRedis(redis)]
  listener.on('message', async (_, request: string) => {
    const { id } = JSON.parse(request)
    for (const batch of answers()) {
      const all = voice.pipeline()
      for (const text of batch) all.publish(`rlock:inspect:${id}`, text)
      await all.exec()
    }
  })
  await listener.subscribe('rlock:inspect')
}

/** Called after each test; before that, where a suite ends what they use. */
export async function killRuns(): Promise<void> {
  await Promise.all(
    [...running].map((run) => {
      run.child.kill('SIGKILL')
      return run.ended
    }),
  )
}
closedAfterEach('process', killRuns)
