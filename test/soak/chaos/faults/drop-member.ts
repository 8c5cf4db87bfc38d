import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from './world'

const TRIES = 60
/** Those that want one member hold it for less, as a rule. */
const HELD_FOR_MS = 60

/** The first member that is held together with another one by one client. Without such a moment nothing is broken. */
export async function dropMember({ topology: { observer }, members }: World): Promise<void> {
  const names = [...new Set(members)].sort()
  let before: readonly (string | undefined)[] = []
  for (let tries = 0; tries < TRIES; tries++) {
    const fields = await Promise.all(names.map(async (name) => (await observer.hkeys(name))[0]))
    const clients = fields.map((field, at) =>
      field !== undefined && field === before[at] ? field.slice(0, field.indexOf(':')) : undefined,
    )
    const first = clients.findIndex(
      (client, at) => client !== undefined && clients.indexOf(client, at + 1) > 0,
    )
    if (first >= 0) return void (await observer.del(names[first]!))
    before = fields
    await sleep(HELD_FOR_MS)
  }
}
