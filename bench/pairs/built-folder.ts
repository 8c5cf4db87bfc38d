import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { removeWithThisProcess } from '../../test/kit/servers/left-behind'

export const ROOT = join(__dirname, '../..')

/** The folder of a build of that commit; or the folder itself. */
export function builtFolder(before: string, onProgress: (text: string) => void): string {
  if (existsSync(before)) return resolve(before)
  const folder = join(temporary(), 'clone')
  const run = (program: string, args: string[], cwd: string) =>
    execFileSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  onProgress(`building ${before}`)
  run('git', ['clone', '--quiet', '--shared', '--no-checkout', ROOT, folder], ROOT)
  run('git', ['checkout', '--quiet', '--detach', before], folder)
  run('npm', ['ci', '--no-audit', '--no-fund'], folder)
  run('npm', ['run', 'build'], folder)
  return folder
}

/** A folder that this process removes at its end. */
export function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rlock-pairs-'))
  removeWithThisProcess(folder)
  return folder
}
