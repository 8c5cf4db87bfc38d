import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { type Mutant, mutated } from './mutant'

const ROOT = join(__dirname, '../../..')

interface LuaIncludes {
  resolveIncludes(name: string, source: string, read: (include: string) => string | undefined): string
}

/** The simulator with one edit, or as it stands. Returns the file. */
export async function bundle(
  name: string,
  mutant: Mutant | undefined,
  includes: LuaIncludes,
): Promise<string> {
  const folder = join(ROOT, '.tmp/simulator')
  mkdirSync(folder, { recursive: true })
  const outfile = join(folder, `mutant-${name}.cjs`)
  await build({
    entryPoints: [join(ROOT, 'tools/simulator/mutants/run-one.ts')],
    ...{ outfile, bundle: true, platform: 'node', format: 'cjs', target: 'node20', logLevel: 'error' },
    external: ['ioredis', 'wasmoon-lua5.1', 'async-mutex', 'eventemitter3', 'cluster-key-slot'],
    plugins: mutant ? [edits(mutant, includes)] : [],
  })
  return outfile
}

function edits(mutant: Mutant, includes: LuaIncludes): Plugin {
  const isScript = mutant.file.startsWith('lua/')
  const target = isScript ? 'src/scripts/lua.generated.ts' : mutant.file
  let isDone = false
  return {
    name: 'mutant',
    setup(building) {
      building.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (path !== join(ROOT, target)) return undefined
        isDone = true
        const source = readFileSync(path, 'utf8')
        return {
          contents: isScript ? withScript(mutant, source, includes) : mutated(mutant, source),
          loader: 'ts',
        }
      })
      building.onEnd(() => {
        if (!isDone)
          throw new Error(`the mutant ${mutant.name} edits ${mutant.file}, which is not in the bundle`)
      })
    },
  }
}

/** The generated file, with every script that the edit reaches embedded again. */
function withScript(mutant: Mutant, generated: string, { resolveIncludes }: LuaIncludes): string {
  const read = (file: string) => {
    const source = readFileSync(join(ROOT, file), 'utf8')
    return file === mutant.file ? mutated(mutant, source) : source
  }
  return generated
    .split('\n')
    .map((line) => {
      const name = /^ {2}"([a-z/-]+)": /.exec(line)?.[1]
      if (name === undefined) return line
      const file = `lua/${name}.lua`
      const script = resolveIncludes(file, read(file), (include) => read(`lua/includes/${include}.lua`))
      return `  ${JSON.stringify(name)}: ${JSON.stringify(script)},`
    })
    .join('\n')
}
