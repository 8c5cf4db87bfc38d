import { findContainers, findLauncher, launchFrom } from './find-server'
import { stopShared } from './shared'

/**
 * For a `describe`: its servers run in containers where an engine answers, and as processes of this machine where none does.
 */
export function inContainersWherePossible(): void {
  before(async function () {
    this.timeout(120_000)
    const launcher = await findContainers()
    if (!launcher)
      return console.log('No container engine answers: these servers are processes of this machine.')
    await stopShared()
    launchFrom(launcher)
    if (launcher.kind === 'container')
      console.log(`These servers run in containers of the image ${launcher.image}.`)
  })
  after(async () => {
    await stopShared()
    launchFrom(undefined)
  })
}

/** For a test, or a hook before one, that needs what a server in a container does not have. The report says the reason. */
export async function skipInContainers(context: Mocha.Context, reason: string): Promise<void> {
  if ((await findLauncher()).kind !== 'container') return
  const test = context.currentTest ?? context.test!
  test.title += ` (not in a container: ${reason})`
  context.skip()
}
