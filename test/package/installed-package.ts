import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export const repository = join(__dirname, '../..')
const run = promisify(execFile)

export const manifest = (folder: string) =>
  JSON.parse(readFileSync(join(repository, folder, 'package.json'), 'utf8')) as {
    version: string
    dependencies?: Record<string, string>
    peerDependencies?: Record<string, string>
  }

/** What an application of Nest has anyway, in the versions that this repository tests with. */
export const nestPackages = () =>
  ['@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs'].map(
    (name) => `${name}@${manifest(`node_modules/${name}`).version}`,
  )

/** Built once for all suites of this process: two builds at once would write over each other. */
let built: Promise<unknown> | undefined

/** The package as users get it: packed, and installed into a project outside the repository. */
export class InstalledPackage {
  private constructor(readonly project: string) {}

  /** With these packages of packages/, and what is installed beside them: `name@version`. */
  static async install(packages: readonly string[] = [], others: readonly string[] = []) {
    const project = realpathSync(mkdtempSync(join(tmpdir(), 'rlock-package-')))
    const installed = new InstalledPackage(project)
    try {
      // The shell is for Windows, where npm is a script.
      const npm = { cwd: repository, shell: process.platform === 'win32' }
      // As `npm pack` in the folder of a package runs it: there, and not in the root. The links of the README stay as they are:
      // other tests read it at the same time.
      const cwd = join(repository, 'packages/testing')
      built ??= run(process.execPath, [join(repository, 'scripts/build.mjs')], { cwd })
      await built
      const folders = ['.', ...packages.map((name) => `./packages/${name}`)]
      const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', project]
      await run('npm', [...pack, ...folders], npm)
      writeFileSync(join(project, 'package.json'), '{ "name": "consumer", "private": true }')
      const install = ['install', '--prefer-offline', '--no-audit', '--no-fund']
      await run('npm', [...install, ...installed.tarballs, ...others], { ...npm, cwd: project })
    } catch (error) {
      installed.remove()
      throw error
    }
    return installed
  }

  /** That of `rlock` is the first. */
  get tarballs(): string[] {
    const packed = readdirSync(this.project).filter((file) => file.endsWith('.tgz'))
    return packed.map((file) => join(this.project, file)).sort()
  }

  get tarball(): string {
    return this.tarballs[0]!
  }

  get directory(): string {
    return join(this.project, 'node_modules/rlock')
  }

  /** The text of an installed file. */
  text(file: string): string {
    return readFileSync(join(this.project, 'node_modules', file), 'utf8')
  }

  /** Compiles files of the project as strict TypeScript; rejects with the compiler's errors. */
  async compile(files: readonly string[], more: object): Promise<void> {
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2022', 'esnext.disposable'],
      strict: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
      types: ['node'],
      typeRoots: [join(repository, 'node_modules/@types')],
      ...more,
    }
    writeFileSync(join(this.project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    await runTool('tsc', ['-p', '.'], this.project)
  }

  /** Writes a file into the project and runs it by this Node; resolves with what it printed as JSON. */
  async run(file: string, source: string): Promise<unknown> {
    writeFileSync(join(this.project, file), source)
    const { stdout } = await run(process.execPath, [file], { cwd: this.project, timeout: 20_000 })
    return JSON.parse(stdout)
  }

  remove(): void {
    rmSync(this.project, { recursive: true, force: true })
  }
}

/** Runs a development tool of the repository; rejects, with what it printed, when it is not content. */
export async function runTool(name: string, args: readonly string[], cwd: string): Promise<string> {
  const tools: Record<string, [string, string]> = {
    tsc: ['typescript', 'bin/tsc'],
    publint: ['publint', 'src/cli.js'],
    attw: ['@arethetypeswrong/cli', 'dist/index.js'],
  }
  const [from, file] = tools[name]!
  const script = join(repository, 'node_modules', from, file)
  try {
    const { stdout } = await run(process.execPath, [script, ...args], { cwd })
    return stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    throw new Error(`${name} ${args.join(' ')}\n${stdout}${stderr}`)
  }
}
