import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export const repository = join(__dirname, '../..')
const run = promisify(execFile)

/** The package as users get it: packed, and installed into a project outside the repository. */
export class InstalledPackage {
  private constructor(readonly project: string) {}

  static async install(): Promise<InstalledPackage> {
    const project = realpathSync(mkdtempSync(join(tmpdir(), 'rlock-package-')))
    const installed = new InstalledPackage(project)
    try {
      // The shell is for Windows, where npm is a script.
      const npm = { cwd: repository, shell: process.platform === 'win32' }
      await run('npm', ['pack', '--silent', '--pack-destination', project], npm)
      writeFileSync(join(project, 'package.json'), '{ "name": "consumer", "private": true }')
      await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', installed.tarball], {
        ...npm,
        cwd: project,
      })
    } catch (error) {
      installed.remove()
      throw error
    }
    return installed
  }

  get tarball(): string {
    return join(this.project, readdirSync(this.project).find((file) => file.endsWith('.tgz'))!)
  }

  get directory(): string {
    return join(this.project, 'node_modules/rlock')
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
