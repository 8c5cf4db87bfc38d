import type { NodeSubject } from '../subjects/nodes'
import { output } from './command'
import { npmBinary } from './npm-binary'

/** The newest Node of a major version, and which it is. */
export async function nodeBinary({ name }: NodeSubject): Promise<{ path: string; version: string }> {
  const path = await npmBinary(`node@${name}`, 'node/bin/node')
  const version = (await output(path, ['--version'])).trim().replace(/^v/, '')
  if (!version.startsWith(`${name}.`)) throw new Error(`Node ${name} is wanted, and the binary is ${version}`)
  return { path, version }
}
