import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { luaSources as recipes } from '../../../packages/recipes/src/lua.generated'
import { luaSources } from '../../../src/scripts/lua.generated'
import { UNDECLARED_ALLOWED } from '../../kit/declared-keys'

const root = join(__dirname, '../../..')
const lua = join(root, 'lua')
/** Each folder of scripts, and what is embedded of it. */
const FOLDERS: Record<string, Record<string, string>> = {
  [lua]: luaSources,
  [join(root, 'packages/recipes/lua')]: recipes,
}

interface LuaIncludes {
  resolveIncludes(name: string, source: string, read: (include: string) => string | undefined): string
  readScripts(directory: string, includes?: string): Record<string, string>
}

const luaIncludes = () =>
  import(pathToFileURL(join(root, 'scripts/lua-includes.mjs')).href) as Promise<LuaIncludes>

describe('An include of a Lua script', () => {
  let resolve: (source: string, includes?: Record<string, string>) => string

  before(async () => {
    const { resolveIncludes } = await luaIncludes()
    resolve = (source, includes = {}) => resolveIncludes('lua/x/y.lua', source, (name) => includes[name])
  })

  it('An include of a Lua script is replaced by its file, without comments', () => {
    const source = '-- header\n\n  --- @include "one"\nlocal x = 1\nif x then\n  --- @include "two"\nend\n'
    const includes = { one: '-- what it does\n\nlocal one = 1\n', two: '  return 2\n' }
    expect(resolve(source, includes)).to.equal('local one = 1\nlocal x = 1\nif x then\n  return 2\nend')
  })

  it('An include of a Lua script may include others, each put in once, where first asked', () => {
    const source = '--- @include "one"\n--- @include "two"\nreturn one + two'
    const includes = { one: '--- @include "two"\nlocal one = 1', two: 'local two = 2' }
    expect(resolve(source, includes)).to.equal('local two = 2\nlocal one = 1\nreturn one + two')
  })

  it('An include of a Lua script fails the build where there is no such file, naming both', () => {
    expect(() => resolve('--- @include "none"')).to.throw(
      'lua/x/y.lua includes "none", but there is no lua/includes/none.lua',
    )
    expect(() => resolve('--- @include "one"', { one: '--- @include "none"' })).to.throw(
      'lua/includes/one.lua includes "none"',
    )
  })

  it('An include of a Lua script fails the build for a cycle, and the error shows it', () => {
    const includes = { one: '--- @include "two"', two: '--- @include "one"' }
    expect(() => resolve('--- @include "one"', includes)).to.throw(
      'lua/x/y.lua -> lua/includes/one.lua -> lua/includes/two.lua -> lua/includes/one.lua',
    )
    expect(() => resolve('--- @include "self"', { self: '--- @include "self"' })).to.throw('circle')
  })

  it('An include of a Lua script in another form fails the build, and is no comment', () => {
    for (const line of [
      '-- @include "one"',
      '---@include "one"',
      '--- @include one',
      "--- @include 'one'",
      '--- @include "one" twice',
      '--- @include "../one"',
      'local x = 1 --- @include "one"',
    ])
      expect(() => resolve(line, { one: '' }), line).to.throw('expected --- @include "name"')
  })

  it('A first line with flags for Dragonfly stays, and fails the build in any other place', () => {
    const flags = '--!df flags=allow-undeclared-keys'
    expect(resolve(`${flags}\n-- header\nreturn 1`)).to.equal(`${flags}\nreturn 1`)
    for (const source of [
      `-- header\n${flags}\nreturn 1`,
      '--!df allow-undeclared-keys',
      '--- @include "one"',
    ])
      expect(() => resolve(source, { one: `${flags}\nlocal one = 1` }), source).to.throw('the first line')
  })

  it('Each include of the Lua scripts is used by some script', () => {
    const sources = readdirSync(lua, { recursive: true })
      .map(String)
      .filter((file) => file.endsWith('.lua'))
      .map((file) => readFileSync(join(lua, file), 'utf8'))
    for (const file of readdirSync(join(lua, 'includes'))) {
      const directive = `--- @include "${file.replace(/\.lua$/, '')}"`
      expect(
        sources.some((source) => source.includes(directive)),
        directive,
      ).to.equal(true)
    }
  })
})

describe('The embedded scripts', () => {
  it('The embedded scripts are those under lua/, the includes apart, as they are now', async () => {
    const { readScripts } = await luaIncludes()
    for (const [folder, sources] of Object.entries(FOLDERS)) {
      expect(sources).to.deep.equal(readScripts(folder, join(lua, 'includes')))
      expect(Object.keys(sources).filter((name) => name.startsWith('includes'))).to.deep.equal([])
      for (const source of Object.values(sources))
        expect(source.replace(UNDECLARED_ALLOWED, '')).to.not.match(/--|@include/)
    }
  })

  it('Scripts that name keys outside KEYS are those that the compatibility page lists', () => {
    const page = readFileSync(join(root, 'docs/operations/compatibility.md'), 'utf8')
    const listed = [...page.matchAll(/^\| `([a-z-]+\/[a-z-]+)` \|/gm)].map(([, name]) => name)
    const flagged = Object.entries(luaSources).filter(([, source]) => source.startsWith(UNDECLARED_ALLOWED))
    expect(listed).to.have.members(flagged.map(([name]) => name))
  })
})

/** A KEYS or ARGV as both sides write it: `KEYS[1]`, `ARGV[3i-1]`, all from the fifth on as `ARGV[5…]`. */
type Place = string

/** What a script's header says of KEYS and ARGV, with what they mean. */
function documented(header: string): Map<Place, string> {
  const places = new Map<Place, string>()
  for (const line of header.split('\n')) {
    const [, names, meaning] = /^-- ((?:(?:KEYS|ARGV)(?:\[[^\]]+\])?(?:, )?)+) +(.*)$/.exec(line) ?? []
    for (const name of names?.split(', ') ?? []) places.set(name, meaning!)
  }
  return places
}

function used(code: string): Set<Place> {
  const places = new Set<Place>()
  const fromLoops = [...code.matchAll(/for (\w+) = (\d+), #(KEYS|ARGV) do/g)]
  for (const [, , start, list] of fromLoops) places.add(`${list}[${start}…]`)
  for (const [, list] of code.matchAll(/ipairs\((KEYS|ARGV)\)/g)) places.add(list!)
  for (const [, list, index] of code.matchAll(/\b(KEYS|ARGV)\[([^\]]+)\]/g))
    if (!fromLoops.some(([, variable, , each]) => each === list && variable === index))
      places.add(`${list}[${index!.replaceAll(/[ *]/g, '')}]`)
  return places
}

describe('The header of a Lua script', () => {
  const scripts = Object.entries(FOLDERS).flatMap(([folder, sources]) =>
    Object.entries(sources).map(([name, code]) => [folder, name, code] as const),
  )
  for (const [folder, name, code] of scripts)
    it(`The header of ${name} tells what each of its KEYS and ARGV is, and of no others`, () => {
      const said = documented(readFileSync(join(folder, `${name}.lua`), 'utf8'))
      const found = used(code)
      for (const place of found) expect([...said.keys()], `${place} is used`).to.include(place)
      for (const [place, meaning] of said) {
        // Some keys are only named, so that the server checks the slot or the right to it.
        if (place.startsWith('KEYS') && /\bnever there\b/.test(meaning)) continue
        expect([...found], `${place} is documented`).to.include(place)
      }
    })

  it('A Lua header and its code are read place by place: numbers, formulas and lists', () => {
    expect([
      ...documented('-- KEYS[1]  the lock\n-- ARGV[1], ARGV[2]  two\n-- ARGV[5…] the rest').keys(),
    ]).to.deep.equal(['KEYS[1]', 'ARGV[1]', 'ARGV[2]', 'ARGV[5…]'])
    expect([...used('call(KEYS[1], ARGV[3 * i - 1])\nfor i = 5, #ARGV do call(ARGV[i]) end')]).to.deep.equal([
      'ARGV[5…]',
      'KEYS[1]',
      'ARGV[3i-1]',
    ])
  })
})

describe('The Lua scripts', () => {
  it('A Lua script has 300 lines at most, as the other files, which lint checks', () => {
    const files = Object.keys(FOLDERS).flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.lua'))
        .map((file) => join(folder, file)),
    )
    expect(files.length).to.be.greaterThan(10)
    const long = files.filter((file) => readFileSync(file, 'utf8').split('\n').length > 300)
    expect(long).to.deep.equal([])
  })
})
