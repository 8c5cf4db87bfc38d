const CRLF = '\r\n'

/** Cuts a stream of RESP2 or RESP3 bytes into whole commands or whole replies. */
export class RespFrames {
  private rest: Buffer = Buffer.alloc(0)

  push(chunk: Buffer): Buffer[] {
    const bytes = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk])
    const frames: Buffer[] = []
    let start = 0
    for (;;) {
      const end = endOfFrame(bytes, start)
      if (end === undefined) break
      frames.push(bytes.subarray(start, end))
      start = end
    }
    this.rest = bytes.subarray(start)
    return frames
  }
}

/** The words of a command, whether sent as an array of strings or, as by telnet, on one line. */
export function wordsOf(command: Buffer, encoding: 'utf8' | 'latin1' = 'utf8'): string[] {
  if (command[0] !== '*'.charCodeAt(0)) return command.toString(encoding).trim().split(/\s+/)
  const words: string[] = []
  let at = endOfLine(command, 0)!
  while (at < command.length) {
    const body = endOfLine(command, at)!
    const length = Number(command.toString('latin1', at + 1, body - CRLF.length))
    words.push(command.toString(encoding, body, body + length))
    at = body + length + CRLF.length
  }
  return words
}

/** A message the server sent by itself (RESP3), so no reply. */
export const isPush = (frame: Buffer): boolean => frame[0] === '>'.charCodeAt(0)

function endOfFrame(bytes: Buffer, start: number): number | undefined {
  const body = endOfLine(bytes, start)
  if (body === undefined) return undefined
  const type = String.fromCharCode(bytes[start]!)
  const size = Number(bytes.toString('latin1', start + 1, body - CRLF.length))
  switch (type) {
    case '$':
    case '=':
    case '!': {
      const end = size < 0 ? body : body + size + CRLF.length
      return end <= bytes.length ? end : undefined
    }
    case '*':
    case '~':
    case '>':
      return endOfFrames(bytes, body, size)
    case '%':
      return endOfFrames(bytes, body, 2 * size)
    case '|':
      // Attributes come before the reply they belong to.
      return endOfFrames(bytes, body, 2 * size + 1)
    default:
      return body
  }
}

function endOfFrames(bytes: Buffer, start: number, count: number): number | undefined {
  let end: number | undefined = start
  for (let index = 0; index < count && end !== undefined; index++) end = endOfFrame(bytes, end)
  return end
}

function endOfLine(bytes: Buffer, start: number): number | undefined {
  const at = bytes.indexOf(CRLF, start)
  return at < 0 ? undefined : at + CRLF.length
}
