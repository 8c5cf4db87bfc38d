/**
 * Links of a README that also work in node_modules and on the page of a registry: `absolute` before `npm pack`, `relative` after it.
 * In the repository the links are relative, so that they work in a clone and on every branch. A package has no docs/, so
 * there they lead to the tag of its version.
 *
 * node scripts/readme-links.mjs absolute|relative (in the folder of the package)
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { posix } from 'node:path'

/** The two forms of the links of a README, for the package that this package.json describes. */
export function readmeLinks({ repository, version }) {
  const place = /^git\+(https:\/\/github\.com\/[\w-]+\/[\w-]+)\.git$/.exec(repository.url)[1]
  const folder = repository.directory ?? '.'
  const pages = `${place}/blob/v${version}/`
  const pictures = `${place.replace('//github.com/', '//raw.githubusercontent.com/')}/v${version}/`
  const isRelative = (target) => !/^(\w+:|#)/.test(target)
  const base = (target) => (target.endsWith('.svg') ? pictures : pages)
  const change = (text, ofTarget) =>
    text
      .replace(/(?<=\]\()[^)\s]+(?=\))/g, ofTarget)
      .replace(/(?<=\b(?:src|srcset|href)=")[^"]+(?=")/g, ofTarget)
  return {
    absolute: (text) =>
      change(text, (target) =>
        isRelative(target) ? `${base(target)}${posix.normalize(posix.join(folder, target))}` : target,
      ),
    relative: (text) =>
      change(text, (target) => {
        const start = [pages, pictures].find((each) => target.startsWith(each))
        return start ? posix.relative(folder, target.slice(start.length)) : target
      }),
  }
}

const [form] = process.argv.slice(2)
// A test imports this file, with arguments of its own.
if (form === 'absolute' || form === 'relative') {
  const links = readmeLinks(JSON.parse(readFileSync('package.json', 'utf8')))
  writeFileSync('README.md', links[form](readFileSync('README.md', 'utf8')))
}
