/** `p:{name}`, or `p:name` where the name has braces of its own. */
export const prefixed = (prefix: string, name: string): string =>
  name.includes('{') ? `${prefix}:${name}` : `${prefix}:{${name}}`

export const suffixed = (name: string, suffix: string): string =>
  name.includes('{') ? `${name}:${suffix}` : `{${name}}:${suffix}`
