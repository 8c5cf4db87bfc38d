import { execFile } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'

const run = promisify(execFile)

// The Debian way to say "install, but start no service": 101 forbids the action.
const SERVICE_POLICY = '/usr/sbin/policy-rc.d'
const FORBID_SERVICES = '#!/bin/sh\nexit 101\n'

/** On Debian and Ubuntu as root, as in most CI images, we may help ourselves. */
export const canInstallServer = (): boolean =>
  existsSync('/etc/debian_version') && existsSync('/usr/bin/apt-get') && process.getuid?.() === 0

export async function installServer(): Promise<void> {
  console.error('rlock tests: no Redis found, running apt-get install redis-server redis-sentinel')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const bringsOwnPolicy = existsSync(SERVICE_POLICY)
  if (!bringsOwnPolicy) writeFileSync(SERVICE_POLICY, FORBID_SERVICES, { mode: 0o755 })
  try {
    await run('apt-get', ['update'], { env })
    await run('apt-get', ['install', '-y', '--no-install-recommends', 'redis-server', 'redis-sentinel'], {
      env,
    })
    // The policy stops the services from starting now, not from being enabled for the next boot.
    await run('systemctl', ['disable', 'redis-server.service', 'redis-sentinel.service']).catch(() => {})
  } catch (failure) {
    throw new Error('apt-get could not install redis-server; install it yourself', { cause: failure })
  } finally {
    if (!bringsOwnPolicy) rmSync(SERVICE_POLICY, { force: true })
  }
}
