import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(__dirname, '../..')

/** What is taken out of the built code: each place where an acquisition, a hold or a release asks for subscribers. */
const CUTS: readonly (readonly [from: string, to: string])[] = [
  [
    `const { hasSubscribers = isTraced(acquisitions) } = acquisitions;
    return hasSubscribers ? this.traced(target, attempt) : super.acquire(target, attempt);`,
    'return super.acquire(target, attempt);',
  ],
  ['publishHold(lease, this.options.origin, this.options.clock);', ''],
  ['if (isRelease && releases.hasSubscribers)', 'if (false)'],
  ['if (state === "released") lease.publishEnd?.("released");', ''],
]

/** Copies the built package to `folder`, which need not exist; without its diagnostics channels, if that is asked for. */
export function copyBuild(folder: string, { withoutChannels = false } = {}): void {
  mkdirSync(folder, { recursive: true })
  for (const each of ['dist', 'package.json'])
    cpSync(join(ROOT, each), join(folder, each), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir')
  if (!withoutChannels) return
  const file = join(folder, 'dist/rlock.js')
  let code = readFileSync(file, 'utf8')
  for (const [from, to] of CUTS) {
    if (code.split(from).length !== 2) throw new Error(`dist/rlock.js no longer has this once: ${from}`)
    code = code.replace(from, to)
  }
  writeFileSync(file, code)
}
