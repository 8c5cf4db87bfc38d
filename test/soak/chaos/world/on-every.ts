import { type Address, waitUntil, withClient } from '../../../kit/servers/index'

/** Sends a command to every node; again where it met a fault: what was switched on must be switched off. */
export async function onEvery(nodes: readonly Address[], name: string, ...args: string[]): Promise<void> {
  await Promise.all(
    nodes.map((node) =>
      waitUntil(`${name} ${args.join(' ')} is answered`, () =>
        withClient(node, (client) => client.call(name, ...args)).then(() => true),
      ),
    ),
  )
}
