import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from './world'

const TRIES = 400
const EVERY_MS = 5

/** The first member that is held together with another one by one client. Without such a moment nothing is broken. */
export async function dropMember({ topology: { observer }, members }: World): Promise<void> {
  const names = [...new Set(members)].sort()
  for (let tries = 0; tries < TRIES; tries++) {
    const fields = await Promise.all(names.map((name) => observer.hkeys(name)))
    const clients = fields.map(([field]) => field?.slice(0, field.indexOf(':')))
    const first = clients.findIndex(
      (client, at) => client !== undefined && clients.indexOf(client, at + 1) > 0,
    )
    if (first >= 0) return void (await observer.del(names[first]!))
    await sleep(EVERY_MS)
  }
}
