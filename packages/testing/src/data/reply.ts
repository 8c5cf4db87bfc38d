/** The answer of a command. Strings have one character for each byte, as everywhere in the in-memory server. */
export type Reply = number | string | null | Status | readonly Reply[]

/** A reply such as `OK`, which Lua sees as a table. */
export class Status {
  constructor(readonly text: string) {}
}

export const OK = new Status('OK')

/** An error reply of the server. Clients recognise it by its name, which ioredis uses as well. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError'
}

export function wrongType(): ReplyError {
  return new ReplyError('WRONGTYPE Operation against a key holding the wrong kind of value')
}

export function syntaxError(): ReplyError {
  return new ReplyError('ERR syntax error')
}

export function notAnInteger(): ReplyError {
  return new ReplyError('ERR value is not an integer or out of range')
}
