const LONGEST = 200

/** Control characters, and what breaks or turns around the line in which a message is shown. */
const INVISIBLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** A name for a log or an error: in quotes, in visible characters, and shortened if it is very long. */
export function quote(name: string): string {
  const short = name.length > LONGEST ? `${name.slice(0, LONGEST)}…` : name
  return JSON.stringify(short).replace(
    INVISIBLE,
    (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
