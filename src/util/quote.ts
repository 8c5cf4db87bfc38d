const MAX_LENGTH = 200

/** Control characters, and what breaks or turns around the line in which a message is shown. */
const INVISIBLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** A name for a message: in quotes, in visible characters, and shortened if it is very long. */
export function quote(name: string): string {
  const short = name.length > MAX_LENGTH ? `${name.slice(0, MAX_LENGTH)}…` : name
  return JSON.stringify(short).replace(
    INVISIBLE,
    (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The message of whatever was thrown. Not everything that can be thrown can be made text. */
export function messageOf(thrown: unknown): string {
  try {
    const { message } = Object(thrown) as { message?: unknown }
    return typeof message === 'string' ? message : String(thrown)
  } catch {
    return `a value of type ${typeof thrown} that has no text`
  }
}
