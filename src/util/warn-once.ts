const warned = new WeakMap<object, Set<string>>()

export function hasWarned(subject: object, code: string): boolean {
  return warned.get(subject)?.has(code) ?? false
}

/** Emits a process warning, once for each subject and code. */
export function warnOnce(subject: object, code: string, message: string): void {
  if (hasWarned(subject, code)) return
  warned.set(subject, (warned.get(subject) ?? new Set()).add(code))
  process.emitWarning(message, { code })
}
