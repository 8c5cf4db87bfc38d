/**
 * The code of an error of this package. A member may belong to another copy of it, which has classes of its
 * own.
 */
export function codeOf(error: unknown): string | undefined {
  const { code } = Object(error) as { code?: unknown }
  return typeof code === 'string' ? code : undefined
}
