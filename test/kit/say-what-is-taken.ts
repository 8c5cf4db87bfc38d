// Before `npm test`: which servers and which Java the suite takes, and what it does without them.
import { javaAvailability } from './java/index'
import { lookAround, WAYS_TO_A_SERVER } from './servers/find-server'
import { canInstallServer } from './servers/install-server'

async function servers(): Promise<string | undefined> {
  const launcher = await lookAround()
  if (launcher?.kind === 'binary') return launcher.path
  if (launcher) return `containers of ${launcher.image}, which the first one downloads`
  if (canInstallServer())
    return 'none here; apt-get installs redis-server and redis-sentinel, without starting them'
  return undefined
}

async function java(): Promise<string> {
  const found = await javaAvailability()
  if (found.available)
    return 'JDK and Maven; the first run downloads Redisson and builds a peer for each version'
  return `none (${found.reason.split('\n')[0]}); the tests beside Java are left out: they need JDK 17 and Maven`
}

async function main(): Promise<void> {
  const taken = await servers()
  if (taken === undefined) {
    console.error(`The tests need a server. One of these helps:\n${WAYS_TO_A_SERVER}`)
    process.exitCode = 1
    return
  }
  console.log(`Lint, types, then the whole suite: some 10 minutes on two cores.
Servers: ${taken}
Java:    ${await java()}
`)
}

main()
