// Writes etc/rlock.api.md: every public type, as users see it. With --check nothing is written; the exit status is 1
// and the differences are printed if the committed report says something else.
//
// The declarations are emitted anew, exactly as the build emits them, so that an old dist/ cannot answer for new
// sources.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { extract, root, withDeclarations } from './declarations.mjs'

const REPORT = 'rlock.api.md'
const check = process.argv.includes('--check')

// Tests run beside a check: they must not find the embedded scripts half written.
if (!check) await import('./embed-lua.mjs')
withDeclarations((folder) => report(reportOf(folder)))

/** The report as API Extractor writes it. */
function reportOf(folder) {
  const apiReport = { enabled: true, reportFileName: REPORT, reportFolder: folder, reportTempFolder: folder }
  // A type that users meet without being able to name it.
  const forgotten = { 'ae-forgotten-export': { logLevel: 'warning', addToApiReportFile: true } }
  extract(folder, 'src/index.d.ts', { apiReport }, forgotten)
  return readFileSync(join(folder, REPORT), 'utf8')
}

function report(found) {
  const file = join(root, 'etc', REPORT)
  const committed = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (found === committed) return
  if (!check) return writeFileSync(file, found)
  const added = linesWithout(found, committed).map((line) => `+ ${line}`)
  const removed = linesWithout(committed, found).map((line) => `- ${line}`)
  console.error(`The public types differ from etc/${REPORT}:`)
  console.error([...removed, ...added].join('\n') || '(the same lines in another order)')
  console.error('If the change is meant, run "npm run api" and commit the report.')
  process.exitCode = 1
}

function linesWithout(text, other) {
  const lines = new Set(other.split('\n'))
  return text.split('\n').filter((line) => !lines.has(line))
}
