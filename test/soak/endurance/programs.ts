import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { removeWithThisProcess } from '../../kit/servers/left-behind'

const ROOT = join(__dirname, '../../..')

/** Plain JavaScript for plain node: what runs TypeScript directly would be in the figures. */
export interface Programs {
  /** The process that is measured. */
  readonly client: string
  /** The module with the lock client that it loads. */
  readonly module: string
}

/** The lock client as it is published, in dist/. */
export async function fromPackage(): Promise<Programs> {
  return { client: await compiled('test/soak/endurance/client/main.ts'), module: join(ROOT, 'dist/index.js') }
}

/** The lock client as its sources are now. */
export async function fromSources(): Promise<Programs> {
  return {
    client: await compiled('test/soak/endurance/client/main.ts'),
    module: await compiled('src/index.ts'),
  }
}

async function compiled(source: string): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'rlock-endurance-'))
  removeWithThisProcess(directory)
  const outfile = join(directory, 'program.js')
  await build({
    entryPoints: [join(ROOT, source)],
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    logLevel: 'error',
    outfile,
  })
  return outfile
}
