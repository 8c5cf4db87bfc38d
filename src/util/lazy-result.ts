/**
 * Throws if the result of a function does its work only when it is read: an async iterator or a stream, or an
 * Observable. The work would run without the lock. A stream that can be written to is allowed: Express's
 * `res.json()` returns one.
 */
export function refuseLazy(result: unknown): void {
  if (typeof result !== 'object' || result === null) return
  // An object may refuse to be asked for a member that it does not have.
  const has = (name: PropertyKey) =>
    name in result && typeof (result as Record<PropertyKey, unknown>)[name] === 'function'
  const isObservable = has('subscribe') && has('pipe')
  if (has('write') || !(has(Symbol.asyncIterator) || isObservable)) return
  const [what, advice] = isObservable
    ? ['an Observable', 'return lastValueFrom(observable)']
    : ['a stream or an async iterator', 'read it with for await in the function']
  const error = new TypeError(
    `the function returned ${what}, whose work begins only when it is read, after the release: ${advice}. ` +
      'The value is the `result` of this error',
  )
  throw Object.assign(error, { result })
}
