/** What the kinds of synchronizers call of each other. Symbols, as for locks: see engine/lock-internals.ts. */
export const CHANGE: unique symbol = Symbol('change')
export const CHANGED: unique symbol = Symbol('changed')
export const ENTER: unique symbol = Symbol('enter')
export const MESSAGES: unique symbol = Symbol('messages')
export const READ: unique symbol = Symbol('read')
export const TIMED_OUT: unique symbol = Symbol('timedOut')
export const TOO_MANY: unique symbol = Symbol('tooLarge')
