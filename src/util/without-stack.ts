/**
 * Makes an error without a stack. An outage rejects thousands of calls at once, and each stack would take
 * longer than the call. The stack of such an error shows only a timer or a connection.
 */
export function withoutStack<E extends Error>(make: () => E): E {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return make()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
