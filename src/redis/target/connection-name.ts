import type { RedisTarget } from './target'

/**
 * The target with a name for its connections (CLIENT SETNAME). The name of the caller comes first, and the id
 * stays findable.
 */
export function named(target: RedisTarget, id: string): RedisTarget {
  const { connectionName } = target.options
  return {
    ...target,
    options: { ...target.options, connectionName: connectionName ? `${connectionName}:${id}` : id },
  }
}
