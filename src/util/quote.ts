const MAX_LENGTH = 200

/** A name for a message: in quotes, and shortened if it is very long. */
export function quote(name: string): string {
  return JSON.stringify(name.length > MAX_LENGTH ? `${name.slice(0, MAX_LENGTH)}…` : name)
}
