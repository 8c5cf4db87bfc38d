/** A runtime other than Node. A package of npm carries its binary. */
export interface RuntimeSubject {
  readonly name: string
  readonly title: string
  /** The binary, within node_modules. */
  readonly file: string
  /** What stands before the program. */
  readonly args: readonly string[]
}

export const RUNTIMES: readonly RuntimeSubject[] = [
  { name: 'bun', title: 'Bun', file: '.bin/bun', args: ['run'] },
  { name: 'deno', title: 'Deno', file: '.bin/deno', args: ['run', '--allow-all'] },
]

/** `1.4.5` of Bun, `deno 2.9.6 (stable, …)` of Deno. */
export function runtimeVersion(text: string): string {
  const version = /\d+\.\d+\.\d+\S*/.exec(text)?.[0]
  if (!version) throw new Error(`No version: ${text}`)
  return version
}
