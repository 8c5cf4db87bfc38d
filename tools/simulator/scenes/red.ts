import type { SimulatedObject } from '../judge/history'
import { lockSection } from '../lock-section'
import type { Scene } from '../scene'

const SERVERS = 5
/** Each member is asked for a tenth of the lease at most, which must be longer than a round trip. */
const LEASES = [1_000, 5_000, 200]

export const red: Scene = {
  name: 'red',
  about: 'a RedLock of five servers',
  servers: SERVERS,
  mayHaveReplica: false,
  setUp() {
    const members = Array.from(
      { length: SERVERS },
      (_, index): SimulatedObject => ({ kind: 'lock', name: 'one', server: `server ${index + 1}` }),
    )
    const object: SimulatedObject = { kind: 'red', name: 'one', members }
    return {
      objects: [object],
      async caller(caller) {
        const { settings, client, redisson, choices } = caller
        for (let section = 0; section < settings.sections / 2; section++) {
          const lock = redisson.getRedLock(...client.redissons.map((each) => each.getLock('one')))
          await lockSection(caller, object, lock, { leases: LEASES })
          await caller.sleep(choices.pick([0, 1, 5]))
        }
      },
    }
  },
}
