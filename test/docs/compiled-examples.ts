import { execFile } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type Example, examplesIn } from '../kit/docs/pages'
import type { Given } from './given'

const ROOT = join(__dirname, '../..')
const GIVEN: readonly (keyof Given)[] = [
  'redisson',
  'lock',
  'order',
  'items',
  'urls',
  'charge',
  'ship',
  'book',
  'read',
  'change',
  'work',
  'transfer',
  'report',
  'sendReport',
  'save',
  'log',
  'app',
  'request',
]

/** An example as a function: its imports stand at the top, and what it does not declare is given. */
export type Run = (given: Given, is: (actual: unknown, expected: unknown) => void) => Promise<void>

/**
 * Examples as files of their own, outside the repository, beside its packages. What stands in place of an address or of
 * a file is replaced. In each file the code stands on the lines on which it stands in its page, for error messages.
 *
 * `expression // → value` is checked.
 */
export class CompiledExamples {
  private readonly directory = realpathSync(mkdtempSync(join(tmpdir(), 'rlock-docs-')))

  constructor(
    private readonly examples: readonly Example[],
    replacements: ReadonlyMap<string, string>,
  ) {
    symlinkSync(join(ROOT, 'node_modules'), join(this.directory, 'node_modules'), 'dir')
    for (const example of examples)
      writeFileSync(this.fileOf(example), asFunction(this.withFiles(example, replacements)))
  }

  /** Rejects with what the compiler says of all examples together. */
  async check(): Promise<void> {
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2023', 'es2024.string', 'esnext.disposable'],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      esModuleInterop: true,
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
      paths: {
        rlock: [join(ROOT, 'src/index.ts')],
        'rlock/internal': [join(ROOT, 'src/internal.ts')],
        '@rlock/recipes': [join(ROOT, 'packages/recipes/src/index.ts')],
        '@rlock/recipes/*': [join(ROOT, 'packages/recipes/src/*.ts')],
      },
    }
    const files = this.examples.map((example) => this.fileOf(example))
    writeFileSync(join(this.directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    const compiler = join(dirname(createRequire(__filename).resolve('typescript/package.json')), 'bin/tsc')
    await promisify(execFile)(process.execPath, [compiler, '-p', this.directory]).catch((error) => {
      throw new Error(error.stdout)
    })
  }

  async load(example: Example): Promise<Run> {
    return (await import(this.fileOf(example))).default
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true })
  }

  private fileOf({ page, line }: Example): string {
    return join(this.directory, `${page.replace(/\W/g, '-')}-${line}.ts`)
  }

  /** The files that an example reads are the blocks of its page that are written in YAML. */
  private withFiles(example: Example, replacements: ReadonlyMap<string, string>): Example {
    const replaced = (code: string) =>
      [...replacements].reduce((replacing, [text, by]) => replacing.replaceAll(text, by), code)
    let code = replaced(example.code)
    for (const name of ["'redisson.yaml'", "'application.yml'"].filter((each) => code.includes(each))) {
      const file = join(this.directory, `${example.page.replace(/\W/g, '-')}.yaml`)
      writeFileSync(
        file,
        replaced(examplesIn(example.page).find(({ language }) => language === 'yaml')!.code),
      )
      code = code.replaceAll(name, JSON.stringify(file))
    }
    return { ...example, code }
  }
}

/** The names that an example uses and does not declare. */
export function givenNames(code: string): string[] {
  const declared = (name: string) =>
    new RegExp(`\\b(const|let|using|function|class) ${name}\\b|import\\b.*\\b${name}\\b`).test(code)
  const body = code.replace(/^import\b[^'"]*['"][^'"]+['"].*$/gm, '').replace(/'[^'\n]*'|\/\/ (?!→).*$/gm, '')
  return GIVEN.filter((name) => new RegExp(`(?<![.\\w]|\\w:)${name}\\b(?!:)`).test(body) && !declared(name))
}

function asFunction({ code, line }: Example): string {
  const imports: string[] = []
  const body = code
    .replace(/^(import\b[^'"]*['"][^'"]+['"]).*$/gm, (statement, code) => {
      imports.push(code.replace(/\s+/g, ' '))
      return '\n'.repeat(statement.split('\n').length - 1)
    })
    .replace(/^( *)(?:const (\w+) = )?(.+?) *\/\/ → (.+)$/gm, (_, indent, name, expression, value) =>
      name
        ? `${indent}const ${name} = ${expression}; is(${name}, ${value})`
        : `${indent}is(${expression}, ${value})`,
    )
  const names = givenNames(code)
  const head = [
    ...imports.map((each) =>
      each.replace(/(['"])(?:@rlock\/([\w-]+)|rlock)\1/, (_, _quote, name) => source(name)),
    ),
    `import type { Given } from ${JSON.stringify(join(__dirname, 'given.ts'))}`,
    `export default async function ({ ${names.join(', ')} }: Given, is: (actual: unknown, expected: unknown) => void) {`,
  ].join('; ')
  return `${head}${'\n'.repeat(line - 1)}${body}\n}\n`
}

function source(name?: string): string {
  return JSON.stringify(join(ROOT, name ? `packages/${name}` : '', 'src/index.ts'))
}
