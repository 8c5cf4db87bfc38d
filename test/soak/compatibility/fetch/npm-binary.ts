import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inCache } from './cache'
import { output } from './command'

/** The file of a package of npm that carries a program, such as node@24, bun or deno; installed once. */
export async function npmBinary(specifier: string, file: string): Promise<string> {
  const home = inCache('npm', specifier)
  if (!existsSync(home)) {
    const partial = `${home}.partial`
    rmSync(partial, { recursive: true, force: true })
    mkdirSync(partial, { recursive: true })
    writeFileSync(join(partial, 'package.json'), '{ "private": true }')
    await output('npm', ['install', '--silent', '--no-audit', '--no-fund', specifier], partial)
    // Only what is complete gets the name.
    renameSync(partial, home)
  }
  return join(home, 'node_modules', file)
}
