// What the Lua scripts share. A line
//
//   --- @include "name"
//
// stands for lua/includes/name.lua. Each file is put in once a script, where it is first asked for; it may include
// others. It defines local functions, which take what they need as arguments, so that the header of a script tells
// about all its KEYS and ARGV; or it is a piece of code whose header names the local variables that it reads.
//
// Comments are not sent, but for a first line `--!df flags=…`: Dragonfly reads it, at the head of a script only.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const DIRECTIVE = /^\s*--- @include "([a-z-]+)"$/
const FLAGS = /^--!df flags=\S+$/

/**
 * All scripts under a directory by their names, as the server gets them.
 * @param {string} directory
 * @param {string} includes where else its includes may be
 */
export function readScripts(directory, includes = join(directory, 'includes')) {
  const readInclude = (name) => {
    const file = [join(directory, 'includes'), includes]
      .map((folder) => join(folder, `${name}.lua`))
      .find((each) => existsSync(each))
    return file && readFileSync(file, 'utf8')
  }
  const files = readdirSync(directory, { recursive: true })
    .map((file) => relative('.', String(file)).replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.lua') && !file.startsWith('includes/'))
    .sort()
  const scripts = files.map((file) => {
    const source = readFileSync(join(directory, file), 'utf8')
    return [file.replace(/\.lua$/, ''), resolveIncludes(`lua/${file}`, source, readInclude)]
  })
  return Object.fromEntries(scripts)
}

/**
 * The script as the server gets it: includes in their places, without comments and empty lines.
 * @param {string} name for messages
 * @param {string} source
 * @param {(include: string) => string | undefined} read the source of an include, or undefined where there is none
 */
export function resolveIncludes(name, source, read) {
  const included = new Set()
  const resolve = (path, text) =>
    text.split('\n').flatMap((line, at) => {
      if (FLAGS.test(line) && at === 0 && path.length === 1) return [line]
      if (line.includes('!df'))
        throw new Error(`${path.at(-1)}: the flags are the first line of a script, got ${line.trim()}`)
      const include = includeOf(path.at(-1), line)
      if (include === undefined) return /^\s*(--|$)/.test(line) ? [] : [line]
      const place = `lua/includes/${include}.lua`
      if (path.includes(place)) throw new Error(`includes go in a circle: ${[...path, place].join(' -> ')}`)
      if (included.has(include)) return []
      included.add(include)
      const found = read(include)
      if (found === undefined)
        throw new Error(`${path.at(-1)} includes "${include}", but there is no ${place}`)
      return resolve([...path, place], found)
    })
  return resolve([name], source).join('\n')
}

function includeOf(name, line) {
  const include = DIRECTIVE.exec(line)?.[1]
  if (include === undefined && /--.*@include/.test(line))
    throw new Error(`${name}: expected --- @include "name", got ${line.trim()}`)
  return include
}
