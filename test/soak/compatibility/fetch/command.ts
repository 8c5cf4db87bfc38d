import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const FETCH_TIMEOUT_MS = 300_000

/** What a command printed; rejects with all of it when the command fails. */
export async function output(command: string, args: readonly string[], cwd?: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, [...args], {
      cwd,
      timeout: FETCH_TIMEOUT_MS,
      maxBuffer: 64 << 20,
    })
    return stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
  }
}
