import { spawn } from 'node:child_process'
import { startCluster } from '../../test/kit/servers/index'

async function main() {
  const c = await startCluster()
  const p = spawn(process.argv[2]!, process.argv.slice(3), {
    stdio: 'inherit',
    env: { ...process.env, CLUSTER: c.nodes.map((n) => n.url).join(',') },
  })
  await new Promise((r) => p.once('exit', r))
  await c.stop()
  process.exit(0)
}
main()
