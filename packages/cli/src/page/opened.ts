import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { complain } from '../terminal'

/** The program of this system that opens a file in the browser of the user. */
function opener(file: string): readonly [command: string, ...args: string[]] {
  if (process.platform === 'darwin') return ['open', file]
  return process.platform === 'win32' ? ['cmd', '/c', 'start', '', file] : ['xdg-open', file]
}

/**
 * Opens the browser of the user, if there is one. The address has the token, and every user of the machine reads the arguments of
 * programs: the browser gets a file that only this user can read, and that leads to the address. `remove` deletes it.
 */
export function openBrowser(address: string): { remove(): void } {
  let folder: string
  try {
    folder = mkdtempSync(join(tmpdir(), 'rlock-page-'))
  } catch (error) {
    complain(`no browser is opened: ${(error as Error).message}`)
    return { remove() {} }
  }
  const file = join(folder, 'open.html')
  const html = `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>rlock</title>
<meta http-equiv="refresh" content="0; url=${address}"><a href="${address}">rlock page</a>\n`
  writeFileSync(file, html, { mode: 0o600, flag: 'wx' })
  const [command, ...args] = opener(file)
  const browser = spawn(command, args, { stdio: 'ignore', detached: true })
  browser.on('error', () => {})
  browser.unref()
  return { remove: () => rmSync(folder, { recursive: true, force: true }) }
}
