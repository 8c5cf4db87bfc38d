/** What a command answers. Strings have a character for each byte, as everything inside the in-memory server. */
export type Reply = number | string | null | Status | readonly Reply[]

/** A reply such as `OK`, which Lua sees as a table. */
export class Status {
  constructor(readonly text: string) {}
}

export const OK = new Status('OK')

/** The server's no. Clients know it by its name, which is that of ioredis's class. */
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
