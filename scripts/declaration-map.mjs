// Writes the source map of a file of declarations: "go to definition" then opens the TypeScript of the package.
//
// API Extractor joins the declarations of many sources in one file, and makes no map. Each declaration and each of its members
// has a name, and the sources have it under the same name, so the map is made from these names.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { root } from './declarations.mjs'
import { encoded } from './source-map-lines.mjs'

const require = createRequire(import.meta.url)
// TypeScript 7 has no API; API Extractor brings a compiler that has one.
const ts = createRequire(require.resolve('@microsoft/api-extractor/package.json'))('typescript')

const parsed = (file) => ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)

/** All sources below a folder, read once. */
function sourcesIn(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.generated.ts'))
    .sort()
    .map((file) => parsed(join(folder, file)))
}

/** The named statements of a file: `[name, node]`. */
function declared(file) {
  return file.statements.flatMap((statement) => {
    const nodes = ts.isVariableStatement(statement)
      ? [...statement.declarationList.declarations]
      : [statement]
    return nodes
      .filter((node) => node.name && ts.isIdentifier(node.name))
      .map((node) => [node.name.text, node])
  })
}

/** The members of a class, an interface or a type, with the properties that a constructor declares. */
function membersOf(node) {
  const members = node.members ?? node.type?.members ?? []
  const parameters = members.filter(ts.isConstructorDeclaration).flatMap((each) => [...each.parameters])
  return [...members, ...parameters.filter((each) => each.modifiers?.length)].filter((member) => member.name)
}

/** Where each declaration of the file stands in the sources: `[name in the declarations, source, name in the source]`. */
function places(declarations, sources) {
  const all = sources.flatMap((source) => declared(source).map(([name, node]) => ({ source, name, node })))
  return declared(declarations).flatMap(([name, node]) => {
    // Of two declarations of one name, the one that has more of the members.
    const wanted = new Set(membersOf(node).map((member) => member.name.getText()))
    const shared = (each) => membersOf(each.node).filter((member) => wanted.has(member.name.getText())).length
    const sameKind = all.filter((each) => each.name === name && each.node.kind === node.kind)
    const [found] = sameKind.toSorted((a, b) => shared(b) - shared(a))
    // API Extractor numbers a name that two sources have: it is not exported.
    if (!found) return []
    const ofMember = new Map(membersOf(found.node).map((member) => [member.name.getText(), member.name]))
    const members = membersOf(node).map((member) => [
      member.name,
      found.source,
      ofMember.get(member.name.getText()) ?? found.node.name,
    ])
    return [[node.name, found.source, found.node.name], ...members]
  })
}

/** Writes `<file>.map` beside a file of declarations, and names it in the file. `folder` has the sources. */
export function writeDeclarationMap(file, folder) {
  const declarations = parsed(join(root, file))
  const from = dirname(join(root, file))
  const found = places(declarations, sourcesIn(join(root, folder)))
    .map(([name, source, nameInSource]) => ({
      at: declarations.getLineAndCharacterOfPosition(name.getStart()),
      source: relative(from, source.fileName).replaceAll('\\', '/'),
      to: source.getLineAndCharacterOfPosition(nameInSource.getStart()),
    }))
    .sort((a, b) => a.at.line - b.at.line || a.at.character - b.at.character)
  const sources = [...new Set(found.map(({ source }) => source))]
  const lines = []
  let last = [0, 0, 0]
  for (const { at, source, to } of found) {
    while (lines.length <= at.line) lines.push({ column: 0, entries: [] })
    const place = [sources.indexOf(source), to.line, to.character]
    const line = lines[at.line]
    line.entries.push(
      [at.character - line.column, ...place.map((value, i) => value - last[i])].map(encoded).join(''),
    )
    line.column = at.character
    last = place
  }
  const mappings = lines.map(({ entries }) => entries.join(',')).join(';')
  const name = basename(file)
  writeFileSync(`${file}.map`, JSON.stringify({ version: 3, file: name, sources, names: [], mappings }))
  writeFileSync(file, `${declarations.text}//# sourceMappingURL=${name}.map\n`)
}
