import { type Document, isNode, isScalar, parseAllDocuments, visit } from 'yaml'
import { notSet } from './variables'

/** The objects that Redisson writes into each file, though they do nothing: `!<org.redisson.config.DefaultNameMapper> {}`. */
const DOES_NOTHING =
  /^(?:!|tag:yaml\.org,2002:)?org\.redisson\.[a-z]+\.Default(?:(?:Name|Nat|Command)Mapper|CredentialsResolver|NettyHook|ReferenceCodecProvider)$/
/** Stands for the `$` of a variable that is not set. */
const MARK = '\uE000'
const UNSET = new RegExp(`${MARK}\\{([^}]*)\\}`)

/** Marks a variable that is not set. `documentsOf` refuses it, unless it is in a comment. */
export const markUnset = (_name: string, written: string) => `${MARK}${written.slice(1)}`

/**
 * The documents of a text. Java's classes are tags in YAML (`!<org.redisson.codec.Kryo5Codec> {}`). Their content is read as plain
 * values. Numbers and flags stay the text that they are in the file: only the setting knows its type, and a password may be
 * `0123456`.
 */
export function documentsOf(text: string): unknown[] {
  // Java takes merge keys (`<<: *defaults`), too.
  const documents = parseAllDocuments(text, { logLevel: 'silent', merge: true })
  return Array.isArray(documents) ? documents.map(contentOf) : []
}

function contentOf(document: Document.Parsed): unknown {
  const [error] = document.errors
  if (error)
    throw new TypeError(
      `the Redisson configuration is not YAML (${error.code}, line ${error.linePos?.[0].line ?? '?'})`,
    )
  visit(document, {
    Pair: (_, { key, value }) => {
      // `{ database:3 }` is a key without a value. The key may hold a password, so no error names it.
      if (value === null && isScalar(key) && String(key.value).includes(':'))
        throw new TypeError(
          'the Redisson configuration has a key without a value that contains a colon: write a blank after the colon',
        )
      const doesNothing = isNode(value) && value.tag !== undefined && DOES_NOTHING.test(value.tag)
      return doesNothing ? visit.REMOVE : undefined
    },
    Scalar: (_, scalar) => {
      if (scalar.value === null) return
      const text = scalar.source ?? String(scalar.value)
      const [, name] = UNSET.exec(text) ?? []
      if (name !== undefined) throw notSet(name, 'the Redisson configuration')
      scalar.value = text.replaceAll(MARK, '$')
    },
  })
  try {
    return document.toJS()
  } catch {
    throw new TypeError('the Redisson configuration is not YAML (its aliases cannot be resolved)')
  }
}
