const warned = new WeakMap<object, Set<string>>()

/** Emits a process warning, once for each subject and code. */
export function warnOnce(subject: object, code: string, message: string): void {
  const codes = warned.get(subject) ?? new Set()
  if (codes.has(code)) return
  warned.set(subject, codes.add(code))
  process.emitWarning(message, { code })
}
