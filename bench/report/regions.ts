import { readFileSync, writeFileSync } from 'node:fs'

/** What stands between `<!-- bench: NAME -->` and `<!-- /bench -->` is replaced, so that no figure is ever typed. */
const REGION = /(<!-- bench: ([\w-]+) -->\n)[\s\S]*?(<!-- \/bench -->)/g

export function fillRegions(file: string, contentOf: (name: string) => string): void {
  const text = readFileSync(file, 'utf8')
  const filled = text.replace(REGION, (_, begin: string, name: string, end: string) => {
    return `${begin}\n${contentOf(name)}\n\n${end}`
  })
  writeFileSync(file, filled)
}
