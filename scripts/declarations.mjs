// The type declarations of the sources, for the build and for the report of the public types.
//
// API Extractor brings a compiler of its own: TypeScript 7 has no API for programs.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const require = createRequire(import.meta.url)

/** Emits the declarations of all sources into a folder, which is removed when `use` has returned. */
export function withDeclarations(use) {
  // Inside the project, so that the types of ioredis are found.
  mkdirSync(join(root, '.tmp'), { recursive: true })
  const folder = mkdtempSync(join(root, '.tmp/declarations-'))
  try {
    // A package of its own: inside rlock, 'rlock' would be the folder itself and no package.
    writeFileSync(join(folder, 'package.json'), '{}')
    const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc')
    const options = ['-p', 'tsconfig.build.json', '--outDir', folder]
    const compiled = spawnSync(process.execPath, [compiler, ...options], { cwd: root, stdio: 'inherit' })
    if (compiled.status !== 0) throw new Error('the sources do not compile')
    return use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Lets API Extractor read the declarations of one entry in the folder of `withDeclarations`. `outputs` says what it writes, in its own words. */
export function extract(folder, entry, outputs, messages = {}) {
  const entryFile = join(folder, entry)
  const { Extractor, ExtractorConfig } = require('@microsoft/api-extractor')
  const none = { default: { logLevel: 'none' } }
  const config = ExtractorConfig.prepare({
    packageJsonFullPath: join(root, 'package.json'),
    configObjectFullPath: join(root, 'api-extractor.json'),
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: entryFile,
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
            // It has no declarations in the package.
            paths: { 'rlock/internal': [join(folder, 'src/internal.d.ts')] },
          },
          files: [entryFile],
        },
      },
      newlineKind: 'lf',
      apiReport: { enabled: false },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      ...outputs,
      messages: {
        compilerMessageReporting: { default: { logLevel: 'error' } },
        extractorMessageReporting: { ...none, ...messages },
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
}
