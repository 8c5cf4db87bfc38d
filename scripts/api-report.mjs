// Writes docs/rlock.api.md: every public type, as users see it. With --check nothing is written; the exit status is 1
// and the differences are printed if the committed report says something else.
//
// The declarations are emitted anew, exactly as the build emits them, so that an old dist/ cannot answer for new
// sources. API Extractor brings a compiler of its own: TypeScript 7 has no API for programs.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const REPORT = 'rlock.api.md'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const require = createRequire(import.meta.url)
const check = process.argv.includes('--check')

// Tests run beside a check: they must not find the embedded scripts half written.
if (!check) await import('./embed-lua.mjs')
// Inside the project, so that the types of ioredis are found.
mkdirSync(join(root, '.tmp'), { recursive: true })
const scratch = mkdtempSync(join(root, '.tmp/api-report-'))
try {
  emitDeclarations()
  report(extract())
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function emitDeclarations() {
  const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc')
  const options = ['-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', scratch]
  const compiled = spawnSync(process.execPath, [compiler, ...options], { cwd: root, stdio: 'inherit' })
  if (compiled.status !== 0) throw new Error('the sources do not compile')
}

/** The report as API Extractor writes it. */
function extract() {
  const { Extractor, ExtractorConfig } = require('@microsoft/api-extractor')
  const none = { default: { logLevel: 'none' } }
  const config = ExtractorConfig.prepare({
    packageJsonFullPath: join(root, 'package.json'),
    configObjectFullPath: join(root, 'api-extractor.json'),
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: join(scratch, 'index.d.ts'),
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: 'es2022',
            lib: ['es2023', 'esnext.disposable'],
            module: 'nodenext',
            moduleResolution: 'nodenext',
            types: ['node'],
            strict: true,
            exactOptionalPropertyTypes: true,
            skipLibCheck: true,
          },
          files: [join(scratch, 'index.d.ts')],
        },
      },
      newlineKind: 'lf',
      apiReport: { enabled: true, reportFileName: REPORT, reportFolder: scratch, reportTempFolder: scratch },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: 'error' } },
        // A type that users meet without being able to name it.
        extractorMessageReporting: {
          ...none,
          'ae-forgotten-export': { logLevel: 'warning', addToApiReportFile: true },
        },
        tsdocMessageReporting: none,
      },
    },
  })
  const { errorCount } = Extractor.invoke(config, {
    localBuild: true,
    messageCallback: (message) => {
      message.handled = message.logLevel !== 'error'
    },
  })
  if (errorCount > 0) throw new Error('API Extractor found errors')
  return readFileSync(join(scratch, REPORT), 'utf8')
}

function report(found) {
  const file = join(root, 'docs', REPORT)
  const committed = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (found === committed) return
  if (!check) return writeFileSync(file, found)
  const added = linesWithout(found, committed).map((line) => `+ ${line}`)
  const removed = linesWithout(committed, found).map((line) => `- ${line}`)
  console.error(`The public types differ from docs/${REPORT}:`)
  console.error([...removed, ...added].join('\n') || '(the same lines in another order)')
  console.error('If the change is meant, run "npm run api" and commit the report.')
  process.exitCode = 1
}

function linesWithout(text, other) {
  const lines = new Set(other.split('\n'))
  return text.split('\n').filter((line) => !lines.has(line))
}
