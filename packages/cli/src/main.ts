#!/usr/bin/env node
import { version } from '../package.json'
import { run as doctor } from './commands/doctor'
import { run as exec } from './commands/exec'
import { run as ls } from './commands/ls'
import { run as page } from './commands/page'
import { run as show } from './commands/show'
import { run as unlock } from './commands/unlock'
import { run as watch } from './commands/watch'
import { EXIT, exitCodeOf, isOptionError, UsageError } from './exit'
import { complain, safe } from './terminal'

type Command = (args: string[]) => Promise<number>

const COMMANDS: Record<string, { readonly run: Command; readonly does: string }> = {
  ls: { run: ls, does: 'lists locks, semaphores and latches, with their holders' },
  show: { run: show, does: 'shows everything about one name, and what it means' },
  unlock: { run: unlock, does: 'frees a lock whose holder is stuck, and wakes its waiters' },
  watch: { run: watch, does: 'shows locks while they are acquired, handed on, released or expire' },
  page: { run: page, does: 'shows the same in a browser on this machine' },
  doctor: { run: doctor, does: 'says what would go wrong with locks on this server' },
  exec: { run: exec, does: 'runs a command while it holds a lock' },
}

const USAGE = () => `usage: rlock <command> [options]

${Object.entries(COMMANDS)
  .map(([name, { does }]) => `  ${name.padEnd(8)}${does}`)
  .join('\n')}

Every command: --redis URL (else REDIS_URL, else localhost), --cluster, --sentinel NAME, --config redisson.yaml,
--user NAME with the password in REDISCLI_AUTH, --cacert FILE, --cert FILE, --key FILE, --json.
rlock <command> --help says more.`

async function main([name, ...args]: string[]): Promise<number> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(`${USAGE()}\n`)
    return name === undefined ? EXIT.usage : EXIT.done
  }
  if (name === '--version') {
    process.stdout.write(`${version}\n`)
    return EXIT.done
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!command) throw new UsageError(`there is no command ${safe(name)}\n\n${USAGE()}`)
  return await command.run(args)
}

// A reader that has seen enough closes the pipe, as `| head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.done)
  throw error
})

// Nobody reads any more what goes wrong. A command of exec must not lose its lock for that.
process.stderr.on('error', () => {})

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    const { message } = error as Error
    // The text of parseArgs contains what the user typed, and perhaps a password in a wrong place: only its first line.
    const text = isOptionError(error) ? message.split('\n')[0]!.replace(/ '[^']*' /, ' ') : message
    complain(text)
    process.exitCode = exitCodeOf(error)
  },
)
