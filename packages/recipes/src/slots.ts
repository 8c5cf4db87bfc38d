import { type Attempt, blocked, type Client, type Outcome, shared } from 'rlock/internal'
import { acquire, type Granted } from './acquire-grant'
import { byOwners, type Kind, LeasedObject } from './leased-object'
import { script } from './script'

const SLOTS: Kind = {
  ...{ kind: 'slot', what: 'a number of the slots', prefix: 'rlock_slots', shared: true, admission: shared },
  ...byOwners('slots'),
}

/** See lua/slots/take.lua. */
const TAKE = script('slots/take', (raw): Outcome<number> => {
  const [isTaken, value] = raw as [number, number]
  return isTaken ? { granted: true, grant: value } : blocked(value)
})

/** Takes the lowest free number of so many. Undefined: the wait was over. */
export async function takeNumber(
  client: Client,
  name: string,
  count: number,
  wanted: Pick<Attempt<number>, 'waitTime' | 'signal'>,
): Promise<Granted<number> | undefined> {
  const slots = new LeasedObject(client, SLOTS, name)
  return await acquire(slots, wanted, (owner, lease) =>
    client.scripts.run(TAKE, [slots.key], [count, owner, lease], true),
  )
}
