import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Example } from './pages'

const ROOT = join(__dirname, '../../..')

/** The blocks of TypeScript in the comments of the sources: the `@example`s of the API reference. */
export function sourceExamples(): Example[] {
  return readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.generated.ts'))
    .sort()
    .flatMap((file) => examplesIn(join('src', file)))
}

function examplesIn(page: string): Example[] {
  const examples: Example[] = []
  let open: { line: number; lines: string[] } | undefined
  for (const [index, text] of readFileSync(join(ROOT, page), 'utf8').split('\n').entries()) {
    const [, comment] = /^ *\* ?(.*)$/.exec(text) ?? []
    if (comment === '```ts') open = { line: index + 2, lines: [] }
    else if (open && comment === '```') {
      examples.push({ page, line: open.line, language: 'ts', code: open.lines.join('\n') })
      open = undefined
    } else if (open && comment === undefined)
      throw new Error(`${page}:${open.line - 1} opens an example that does not end`)
    else open?.lines.push(comment!)
  }
  return examples
}
