import { isObject, REDISSON_YAML, type Source } from './section'
import type { NotCarriedOver } from './settings'
import { type Env, redissonVariables, replaced, resolved, type Variables } from './variables'
import { documentsOf, markUnset } from './yaml-text'

/** The content of a configuration of Redisson, and the file that messages name. */
export interface JavaConfig {
  readonly settings: Record<string, unknown>
  readonly source: Source
  readonly notCarriedOver: readonly NotCarriedOver[]
}

const WHAT = 'the Redisson configuration'

/** A redisson.yaml, as text or as its content. `variables`: those of Redisson, unless something else resolves them. */
export function redissonYaml(
  given: string | object,
  env: Env,
  variables: Variables = redissonVariables(env, WHAT),
): JavaConfig {
  const settings = typeof given === 'string' ? contentOf(given, variables) : resolved(given, variables)
  if (isObject(settings)) return { settings, source: REDISSON_YAML, notCarriedOver: [] }
  const isName = typeof settings === 'string' && /^(classpath|file):|\.ya?ml$/.test(settings)
  throw new TypeError(
    isName
      ? `${WHAT} is the name of a file: give the text of that file`
      : `a Redisson configuration is the text of a redisson.yaml or an object, got ${settings === null ? 'null' : typeof settings}`,
  )
}

function contentOf(text: string, variables: Variables): unknown {
  // As in Java, the values of variables are a part of the YAML: one may be a list.
  const documents = documentsOf(replaced(text, { ...variables, missing: markUnset }))
  if (documents.length > 1)
    throw new TypeError(`${WHAT} has several documents, and Redisson takes one: give the text of that one`)
  return documents[0] ?? null
}
