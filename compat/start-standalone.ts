import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A redis-server of its own, on a free port. Stands in until the tests' shared servers are there. */
export async function startStandalone() {
  const port = await new Promise<number>((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
  const dir = await mkdtemp(join(tmpdir(), 'java-peer-'))
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', dir]
  const server = spawn('redis-server', args, { stdio: 'ignore' })
  const kill = () => server.kill('SIGKILL')
  process.once('exit', kill)
  for (let up = false; !up; ) {
    const probe = connect(port, '127.0.0.1')
    up = await new Promise((resolve) => {
      probe.once('connect', () => resolve(true)).once('error', () => setTimeout(resolve, 20, false))
    })
    probe.destroy()
  }
  const stop = async () => {
    const gone = new Promise((resolve) => server.once('exit', resolve))
    process.off('exit', kill)
    kill()
    await gone
    await rm(dir, { recursive: true })
  }
  return { url: `redis://127.0.0.1:${port}`, host: '127.0.0.1', port, stop }
}
