import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(__dirname, '../../..')

/** A block of code in a page. */
export interface Example {
  /** The page, from the root of the repository. */
  readonly page: string
  /** The line of the page on which the code begins, counted from 1. */
  readonly line: number
  readonly language: string
  readonly code: string
  /**
   * Where the code stands (`<!-- from FILE -->` in the line before it) or is run (`<!-- run by FILE -->`), where it
   * cannot be run by itself.
   */
  readonly elsewhere?: { readonly how: 'from' | 'run by'; readonly file: string } | undefined
}

/** The pages that users read: the README and all of docs/. */
export function pages(): string[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file))
  return ['README.md', ...docs.sort()]
}

export function textOf(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8')
}

/** All blocks of code of a page. */
export function examplesIn(page: string): Example[] {
  const examples: Example[] = []
  let open: { language: string; line: number; lines: string[] } | undefined
  const all = textOf(page).split('\n')
  for (const [index, text] of all.entries()) {
    const fence = /^ {0,3}```(\w*)/.exec(text)
    if (!fence) open?.lines.push(text)
    else if (!open) open = { language: fence[1]!, line: index + 2, lines: [] }
    else {
      const [, how, file] = /^ *<!-- (from|run by) (\S+) -->$/.exec(all[open.line - 3] ?? '') ?? []
      const elsewhere = file ? { how: how as 'from' | 'run by', file } : undefined
      const { line, language, lines } = open
      examples.push({ page, line, language, code: lines.join('\n'), elsewhere })
      open = undefined
    }
  }
  if (open) throw new Error(`${page}:${open.line - 1} opens a block of code that does not end`)
  return examples
}

/** All blocks of code in these languages, of all pages. */
export function examples(...languages: string[]): Example[] {
  return pages()
    .flatMap(examplesIn)
    .filter(({ language }) => languages.includes(language))
}
