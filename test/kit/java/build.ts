import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { oneAtATime } from './build-lock'

export interface PeerBuild {
  version: string
  /** What `java -cp` needs: our classes, then Redisson and its dependencies. */
  classpath: string
}

const PROJECT = join(__dirname, '../../../compat/peer')
const TARGET = join(PROJECT, 'target')
const run = promisify(execFile)
const builds = new Map<string, Promise<PeerBuild>>()

/** Compiles the peer against one Redisson, unless that was already done for these very sources. */
export function buildPeer(version: string): Promise<PeerBuild> {
  if (!/^\w[\w.-]*$/.test(version)) throw new TypeError(`not a version: ${JSON.stringify(version)}`)
  let build = builds.get(version)
  if (!build) {
    build = findOrBuild(version)
    builds.set(version, build)
    build.catch(() => builds.delete(version))
  }
  return build
}

/**
 * A build lies under the hash of what it was made from: a change never touches the classes that
 * a running peer still loads from, and no clock decides what is up to date.
 */
async function findOrBuild(version: string): Promise<PeerBuild> {
  const place = join(TARGET, version, await hashOfSources())
  const found = await usable(version, place)
  if (found) return found
  return oneAtATime(join(TARGET, 'building'), async () => {
    const builtMeanwhile = await usable(version, place)
    if (builtMeanwhile) return builtMeanwhile
    await build(version, place)
    const built = await usable(version, place)
    if (!built) throw new Error(`building the Java peer for Redisson ${version} left no classes in ${place}`)
    return built
  })
}

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256')
  const entries = await readdir(join(PROJECT, 'src'), { recursive: true, withFileTypes: true })
  const sources = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  for (const file of [join(PROJECT, 'pom.xml'), ...sources.sort()]) {
    hash
      .update(file.slice(PROJECT.length))
      .update('\0')
      .update(await readFile(file))
      .update('\0')
  }
  return hash.digest('hex').slice(0, 12)
}

/** Undefined, too, when the local Maven repository has lost a jar since. */
async function usable(version: string, place: string): Promise<PeerBuild | undefined> {
  try {
    const jars = (await readFile(join(place, 'classpath.txt'), 'utf8')).trim()
    const classes = join(place, 'classes')
    await Promise.all([classes, ...jars.split(delimiter)].map((path) => access(path)))
    return { version, classpath: classes + delimiter + jars }
  } catch {
    return undefined
  }
}

/** Built aside and renamed: a reader sees a whole build or none. */
async function build(version: string, place: string): Promise<void> {
  process.stderr.write(`Building the Java peer for Redisson ${version}; the first build downloads it.\n`)
  await mkdir(join(TARGET, version), { recursive: true })
  const aside = await mkdtemp(join(TARGET, version, 'building-'))
  try {
    const defines = [`-Dredisson.version=${version}`, `-Dpeer.build=${aside}`, '-Dstyle.color=never']
    await run('mvn', ['-q', '-B', '-f', join(PROJECT, 'pom.xml'), ...defines, 'compile'])
    await rm(place, { recursive: true, force: true })
    await rename(aside, place)
  } catch (error) {
    await rm(aside, { recursive: true, force: true })
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string }
    const output = (stdout + stderr).trim().split('\n').slice(0, 30).join('\n')
    throw new Error(`building the Java peer for Redisson ${version} failed:\n${output || message}`)
  }
}
