import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

export type JavaAvailability = { available: true } | { available: false; reason: string }

const OLDEST_JDK = 17
const run = promisify(execFile)
let known: Promise<JavaAvailability> | undefined

/** Whether the peer can be built and run here; asked of the tools once a process. */
export function javaAvailability(): Promise<JavaAvailability> {
  known ??= probe()
  return known
}

/** Maven obeys JAVA_HOME, so the peer must be run by that same Java. */
export function javaCommand(tool: 'java' | 'javac'): string {
  const home = process.env.JAVA_HOME
  return home ? join(home, 'bin', tool) : tool
}

async function probe(): Promise<JavaAvailability> {
  try {
    const [java, javac] = await Promise.all([
      majorVersion(javaCommand('java')),
      majorVersion(javaCommand('javac')),
      firstOutput('mvn'),
    ])
    const oldest = Math.min(java, javac)
    if (oldest >= OLDEST_JDK) return { available: true }
    return { available: false, reason: `JDK ${OLDEST_JDK} or newer is needed, found ${oldest}` }
  } catch (error) {
    return { available: false, reason: (error as Error).message }
  }
}

async function majorVersion(command: string): Promise<number> {
  const output = await firstOutput(command)
  const major = /(?:version "|javac )(\d+)/.exec(output)?.[1]
  if (major === undefined) throw new Error(`${command} -version answered: ${output.trim()}`)
  return Number(major)
}

async function firstOutput(command: string): Promise<string> {
  try {
    // java answers on stderr, javac and mvn on stdout.
    const { stdout, stderr } = await run(command, ['-version'])
    return stdout + stderr
  } catch (error) {
    throw new Error(`${command} cannot be run: ${(error as Error).message.trim()}`)
  }
}
