import { readFileSync, writeFileSync } from 'node:fs'

type ContentOf = (name: string) => string | undefined

/**
 * What stands between `<!-- KIND: NAME -->` and `<!-- /KIND -->` is replaced, so that no figure is ever typed. It stays where there is
 * nothing to put there.
 */
export function withRegions(page: string, kind: string, contentOf: ContentOf): string {
  const region = new RegExp(`(<!-- ${kind}: ([\\w-]+) -->\\n)[\\s\\S]*?(<!-- /${kind} -->)`, 'g')
  return page.replace(region, (whole: string, begin: string, name: string, end: string) => {
    const content = contentOf(name)
    return content === undefined ? whole : `${begin}\n${content}\n\n${end}`
  })
}

/** The same with a file. */
export function fillRegions(file: string, kind: string, contentOf: ContentOf): void {
  writeFileSync(file, withRegions(readFileSync(file, 'utf8'), kind, contentOf))
}
