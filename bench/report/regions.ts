import { readFileSync, writeFileSync } from 'node:fs'

/** What stands between `<!-- bench: NAME -->` and `<!-- /bench -->` is replaced, so that no figure is ever typed; it stays where there is nothing to put there. */
const REGION = /(<!-- bench: ([\w-]+) -->\n)[\s\S]*?(<!-- \/bench -->)/g

export function fillRegions(file: string, contentOf: (name: string) => string | undefined): void {
  const text = readFileSync(file, 'utf8')
  const filled = text.replace(REGION, (region: string, begin: string, name: string, end: string) => {
    const content = contentOf(name)
    return content === undefined ? region : `${begin}\n${content}\n\n${end}`
  })
  writeFileSync(file, filled)
}
